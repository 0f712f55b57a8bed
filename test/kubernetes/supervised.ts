/** Processes that live in a temporary folder and never longer than this one, however it ends (supervise.sh). */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeBytesInMemory, MEMORY } from '../helpers/run-scratch.ts';
import { until } from '../helpers/wait.ts';

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

type SupervisedOptions = {
  /** In namespaces of their own: mounts, network, cgroups and process ids (needs root). */
  apart?: boolean;
  /** The folder is on the disk: what goes there is large, and read once. */
  onDisk?: boolean;
  /** Of all processes; ours without it. */
  env?: NodeJS.ProcessEnv;
};

export class Supervised {
  readonly folder: string;
  readonly #shell: ChildProcess;
  readonly #gone: Promise<void>;

  constructor({ apart = false, onDisk = false, env = process.env }: SupervisedOptions = {}) {
    // In memory where there is enough of it: etcd preallocates 128 MiB, and the files of images are many.
    const isRoom = !onDisk && freeBytesInMemory() > (apart ? 4 * 2 ** 30 : 2 ** 29);
    this.folder = mkdtempSync(join(isRoom ? MEMORY : (process.env.TEST_DISK ?? tmpdir()), 'accord-k8s-'));
    chmodSync(this.folder, 0o711); // a Postgres in it runs as another user
    const script = join(import.meta.dirname, 'supervise.sh');
    // Whoever ends what a run has left (run-scratch.ts) finds it by that name. This ends by itself, and has a folder to remove.
    const { TEST_RUN: _, ...own } = env;
    // A session of its own: Ctrl-C in a terminal is for the test run, whose end is then what ends this.
    this.#shell = spawn('bash', [script, this.folder, ...(apart ? ['apart'] : [])], {
      stdio: ['pipe', 'inherit', 'inherit'],
      detached: true,
      env: own,
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
    return (existsSync(path) && Number(readFileSync(path, 'utf8'))) || undefined;
  }

  /** Waits until a condition holds. @throws with the end of its log when the process ends before, or never does it */
  async until(name: string, what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    const hasEnded = () => this.exitCode(name) !== undefined;
    const isSo = async () => (await Promise.resolve(holds()).catch(() => false)) || (hasEnded() && 'ended');
    const found = await until(`${name}, which ${what}`, isSo).catch(({ message }) => {
      throw new Error(`${message}. It printed:\n${this.log(name)}`);
    });
    if (found === 'ended') throw new Error(`${name}, which never ${what}, printed:\n${this.output(name)}`);
  }

  /** Starts a program that ends by itself, and waits for that. @throws with the end of its log when it fails */
  async finish(name: string, program: string, args: readonly string[]): Promise<void> {
    this.start(name, program, args);
    if ((await this.ended(name)) !== 0) throw new Error(`${name} failed:\n${this.log(name)}`);
  }

  /** Waits for its end. @returns what it has ended with */
  async ended(name: string): Promise<number> {
    await until(`the end of ${name}`, () => this.exitCode(name) !== undefined);
    return this.exitCode(name) as number;
  }

  /** @returns what a process has ended with; undefined while it runs */
  exitCode(name: string): number | undefined {
    const code = /\nended with code (\d+)\n$/.exec(`\n${this.output(name)}`)?.[1];
    return code === undefined ? undefined : Number(code);
  }

  /** The last lines that a process has printed. */
  log(name: string): string {
    return this.output(name).split('\n').slice(-20).join('\n');
  }

  /** All that a process has printed. */
  output(name: string): string {
    const path = join(this.folder, `${name}.log`);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** Ends them all and removes the folder. */
  async stop(): Promise<void> {
    this.#shell.stdin?.end();
    await this.#gone;
  }
}
