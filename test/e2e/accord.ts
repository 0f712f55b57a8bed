/** The `accord` command in processes of its own, as a person or a container runs it: with the machine's own Node. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { untilPasses } from '../helpers/wait.ts';

export const root = join(import.meta.dirname, '../..');

/** Ours without the ACCORD_ variables of whoever runs the tests. */
export const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ACCORD_')));

/** Runs a command to its end. @throws with what it printed, when it fails */
export function accord(args: readonly string[], variables: Record<string, string> = {}) {
  const env = { ...environment(), ...variables };
  return promisify(execFile)('node', ['bin/accord.mjs', ...args], { cwd: root, env });
}

/** By itself, or by a signal. */
export const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** A command that goes on until it is stopped. */
export class Running {
  readonly child: ChildProcess;
  output = '';

  constructor(args: readonly string[], variables: Record<string, string> = {}) {
    const env = { ...environment(), ...variables };
    this.child = spawn('node', ['bin/accord.mjs', ...args], {
      ...{ cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    this.child.stdout?.on('data', (chunk) => {
      this.output += chunk;
    });
    this.child.stderr?.on('data', (chunk) => {
      this.output += chunk;
    });
  }

  says(what: string | RegExp): Promise<void> {
    return untilPasses(`a process that says ${what}`, () => expect(this.output).toMatch(what));
  }

  /** @returns the exit code; null when a signal ended it */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (hasEnded(this.child)) return this.child.exitCode;
    const gone = this.gone();
    // What cannot be passed on goes to the whole group.
    if (signal === 'SIGKILL') process.kill(-(this.child.pid as number), signal);
    else this.child.kill(signal);
    return gone;
  }

  /** @returns as stop(), which ends it */
  async gone(): Promise<number | null> {
    if (hasEnded(this.child)) return this.child.exitCode;
    return new Promise((resolve) => this.child.once('exit', resolve));
  }
}
