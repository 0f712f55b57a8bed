/** The `accord` command in processes of its own, as a person or a container runs it: with the machine's own Node. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';

export const root = join(import.meta.dirname, '../..');
export const patient = { timeout: 60_000, interval: 100 };

/** Ours without the ACCORD_ variables of whoever runs the tests. */
export const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ACCORD_')));

/** Runs a command to its end. @throws with what it printed, when it fails */
export function accord(args: readonly string[], variables: Record<string, string> = {}) {
  const env = { ...environment(), ...variables };
  return promisify(execFile)('node', ['bin/accord.mjs', ...args], { cwd: root, env });
}

/** A command that goes on until it is stopped. */
export class Running {
  readonly child: ChildProcess;
  output = '';

  constructor(args: readonly string[], variables: Record<string, string> = {}) {
    const env = { ...environment(), ...variables };
    this.child = spawn('node', ['bin/accord.mjs', ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.on('data', (chunk) => {
      this.output += chunk;
    });
    this.child.stderr?.on('data', (chunk) => {
      this.output += chunk;
    });
  }

  says(what: string | RegExp): Promise<void> {
    return vi.waitFor(() => {
      expect(this.output).toMatch(what);
    }, patient);
  }

  /** @returns the exit code */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode;
    const gone = this.gone();
    this.child.kill(signal);
    return gone;
  }

  gone(): Promise<number | null> {
    return new Promise((resolve) => this.child.once('exit', resolve));
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
