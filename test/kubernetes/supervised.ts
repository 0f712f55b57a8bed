/** Processes that live in a temporary folder and never longer than this one, however it ends (supervise.sh). */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function freeBytes(folder: string): number {
  if (!existsSync(folder)) return 0;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

export class Supervised {
  readonly folder: string;
  readonly #shell: ChildProcess;
  readonly #gone: Promise<void>;

  /** @param apart in namespaces of their own: mounts, network, cgroups and process ids (needs root) */
  constructor({ apart = false } = {}) {
    // In memory where there is enough of it: etcd preallocates 128 MiB, and the files of images are many.
    const home = freeBytes('/dev/shm') > (apart ? 4 * 2 ** 30 : 2 ** 29) ? '/dev/shm' : tmpdir();
    this.folder = mkdtempSync(join(home, 'accord-k8s-'));
    const script = join(import.meta.dirname, 'supervise.sh');
    // A session of its own: Ctrl-C in a terminal is for the test run, whose end is then what ends this.
    this.#shell = spawn('bash', [script, this.folder, ...(apart ? ['apart'] : [])], {
      stdio: ['pipe', 'inherit', 'inherit'],
      detached: true,
    });
    this.#gone = new Promise((resolve) => this.#shell.once('exit', () => resolve()));
  }

  /** Starts a program in the folder; its output goes to NAME.log there. A name runs once at a time. */
  start(name: string, program: string, args: readonly string[]): void {
    rmSync(join(this.folder, `${name}.log`), { force: true });
    this.#shell.stdin?.write(`run ${[name, program, ...args].map(quoted).join(' ')}\n`);
  }

  /** @returns its process id (of its own namespace, when apart); undefined when it has ended, or is just about to start */
  pid(name: string): number | undefined {
    const path = join(this.folder, `${name}.pid`);
    return existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined;
  }

  /** Waits until a condition holds. @throws with the end of its log when the process ends before, or after a minute */
  async until(name: string, holds: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 60_000;
    while (!(await holds())) {
      if (this.exitCode(name) !== undefined) throw new Error(`${name} has ended:\n${this.log(name)}`);
      if (Date.now() > deadline) throw new Error(`${name} is not ready after a minute:\n${this.log(name)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Starts a program that ends by itself, and waits for that. @throws with the end of its log when it fails */
  async finish(name: string, program: string, args: readonly string[]): Promise<void> {
    this.start(name, program, args);
    while (this.exitCode(name) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    if (this.exitCode(name) !== 0) throw new Error(`${name} failed:\n${this.log(name)}`);
  }

  /** @returns what a process has ended with; undefined while it runs */
  exitCode(name: string): number | undefined {
    const code = /\nended with code (\d+)\n$/.exec(`\n${this.log(name)}`)?.[1];
    return code === undefined ? undefined : Number(code);
  }

  /** The last lines that a process has printed. */
  log(name: string): string {
    const path = join(this.folder, `${name}.log`);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(-20).join('\n') : '';
  }

  /** Ends them all and removes the folder. */
  async stop(): Promise<void> {
    this.#shell.stdin?.end();
    await this.#gone;
  }
}

/** A free port below the ephemeral range, so that no outgoing connection takes it before it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
