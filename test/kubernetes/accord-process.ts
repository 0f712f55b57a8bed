/** The `accord` command in processes that end with the file of tests that starts them, however that ends. */
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { environment, root } from '../e2e/accord.ts';
import { freePort } from '../helpers/free-port.ts';
import { Supervised } from './supervised.ts';

let started: Supervised | undefined;
afterAll(() => started?.stop());
let count = 0;

/** A process, without the launcher before it: its signals are for it alone. */
export class AccordProcess {
  readonly adminUrl: string;
  readonly #processes: Supervised;
  readonly #name: string;

  protected constructor(processes: Supervised, name: string, adminUrl: string) {
    this.#processes = processes;
    this.#name = name;
    this.adminUrl = adminUrl;
  }

  static async run(args: readonly string[], variables: Record<string, string>): Promise<AccordProcess> {
    started ??= new Supervised({ env: environment() });
    const [name, admin] = [`accord-${++count}`, `127.0.0.1:${await freePort()}`];
    const all = Object.entries({ ...variables, ACCORD_ADMIN_LISTEN: admin }).map(([key, value]) => `${key}=${value}`);
    started.start(name, 'env', [...all, process.execPath, join(root, 'cli/main.ts'), ...args]);
    const made = new AccordProcess(started, name, `http://${admin}`);
    await made.until('runs', () => made.#pid !== undefined);
    return made;
  }

  get #pid(): number | undefined {
    return this.#processes.pid(this.#name);
  }

  /** All that it has printed. */
  get output(): string {
    return this.#processes.output(this.#name);
  }

  /** A folder for its data. */
  get folder(): string {
    return this.#processes.folder;
  }

  says(what: RegExp | string): Promise<void> {
    const isSaid = () => (typeof what === 'string' ? this.output.includes(what) : what.test(this.output));
    return this.until(`says ${what}`, isSaid);
  }

  leads(): Promise<void> {
    return this.until('leads', async () => (await this.metric('operator_leader')) === 1);
  }

  becomesReady(): Promise<void> {
    return this.until('is ready', async () => (await this.probe('/ready')).status === 200);
  }

  /** @throws with what it printed, when it ends before */
  until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    return this.#processes.until(this.#name, what, isSo);
  }

  /** @returns the exit code; 128 and the number of a signal that ended it */
  gone(): Promise<number> {
    return this.#processes.ended(this.#name);
  }

  send(signal: NodeJS.Signals): void {
    const pid = this.#pid;
    if (pid !== undefined) process.kill(pid, signal);
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    this.send(signal);
    return this.gone();
  }

  async probe(path: '/live' | '/ready'): Promise<{ status: number; reasons: string }> {
    const response = await fetch(`${this.adminUrl}${path}`);
    const body = (await response.json()) as { reasons?: string[] };
    return { status: response.status, reasons: (body.reasons ?? []).join('\n') };
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^accord_${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1]);
  }
}
