/**
 * Passwords: argon2id in one worker thread. Tenants take turns, and so do the networks of a tenant: a network that asks for many
 * hashes delays no other. The asynchronous form of node:crypto would take libuv's four threads, which also resolve names and read
 * files.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../core/fair-queue.ts';
import { limits } from '../core/limits.ts';
import type { BaseServices } from '../room/room.ts';
import { accountProblem } from './problems.ts';
import { networkOf, passwordBytes } from './rules.ts';

export type ArgonJob = {
  id: number;
  message: Uint8Array;
  nonce: Uint8Array;
  memory: number;
  passes: number;
  parallelism: number;
  tagLength: number;
};
/** For whom something is hashed. `network`: the address that the request came from. */
type Asker = { tenant: string; network?: string | undefined };
type Parameters = Omit<ArgonJob, 'id' | 'message'>;
type Waiting = { job: ArgonJob; resolve: (tag: Uint8Array) => void; reject: (error: Error) => void };

const WORKER = new URL('./password-worker.ts', import.meta.url);
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** A hash in the PHC string format. v=19 is version 1.3 of argon2. */
const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** What a new hash costs. */
type Cost = NonNullable<BaseServices['passwordCost']>;
const usual: Cost = { memoryKib: limits.argonMemoryKibMin, passes: limits.argonPassesMax };

type PasswordOptions = {
  /** The worker's module. */
  file?: URL;
  /** For which one hash is waited for. */
  hashMsMax?: number;
  cost?: Cost | undefined;
};

export class Passwords {
  readonly #file: URL;
  readonly #hashMsMax: number;
  readonly #cost: Cost;
  /** One item for each that waits of a tenant, and which of these is next. */
  readonly #turns = new FairQueue<string, undefined>();
  readonly #byNetwork = new Map<string, FairQueue<string, Waiting>>();
  /** The parameters of the hash where no password is stored, so that the answer takes as long. */
  readonly #nobody: Parameters;
  #worker: Worker | undefined;
  #running: (Waiting & { timer: NodeJS.Timeout }) | undefined;
  #nextId = 1;
  #closed = false;

  constructor({ file = WORKER, hashMsMax = limits.passwordHashMsMax, cost = usual }: PasswordOptions = {}) {
    this.#file = file;
    this.#hashMsMax = hashMsMax;
    this.#cost = cost;
    this.#nobody = this.#parameters();
  }

  /** How many hashes of a tenant wait. */
  waiting(tenant: string): number {
    return this.#turns.length(tenant);
  }

  /**
   * The password as it is stored, a PHC string.
   * @param password a checked one (checkPassword)
   * @throws Problem passwords_busy
   */
  async hash(asker: Asker, password: string): Promise<string> {
    const parameters = this.#parameters();
    const tag = await this.#derive(asker, passwordBytes(password) ?? new Uint8Array(), parameters);
    const { memory, passes, parallelism, nonce } = parameters;
    return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
  }

  /**
   * Whether it is the password that was stored. It takes the same time when none was.
   * @throws Problem passwords_busy
   */
  async verify(asker: Asker, password: string, stored: string | undefined): Promise<boolean> {
    const [, memory, passes, parallelism, salt, tag] = (stored === undefined ? null : PHC.exec(stored)) ?? [];
    const given = passwordBytes(password);
    if (salt === undefined || tag === undefined || given === undefined) {
      await this.#derive(asker, given ?? new Uint8Array(), this.#nobody);
      return false;
    }
    const expected = Buffer.from(tag, 'base64');
    const derived = await this.#derive(asker, given, {
      ...{ nonce: Buffer.from(salt, 'base64'), tagLength: expected.length },
      ...{ memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    });
    return timingSafeEqual(derived, expected);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#fail(new Error('shutting down'));
    for (let next = this.#shift(); next; next = this.#shift()) next.reject(new Error('shutting down'));
    await worker?.terminate();
  }

  #parameters(): Parameters {
    const { memoryKib: memory, passes } = this.#cost;
    return { nonce: randomBytes(SALT_BYTES), memory, passes, parallelism: 1, tagLength: TAG_BYTES };
  }

  #derive({ tenant, network }: Asker, message: Uint8Array, parameters: Parameters): Promise<Uint8Array> {
    if (this.#closed) return Promise.reject(new Error('shutting down'));
    const waiting = this.#byNetwork.get(tenant) ?? new FairQueue<string, Waiting>();
    const party = networkOf(network) ?? '';
    if (waiting.count >= limits.passwordQueuePerTenantMax || waiting.length(party) >= limits.passwordQueuePerNetworkMax)
      return Promise.reject(accountProblem('passwords_busy'));
    return new Promise((resolve, reject) => {
      waiting.push(party, { job: { id: this.#nextId++, message, ...parameters }, resolve, reject });
      this.#byNetwork.set(tenant, waiting);
      this.#turns.push(tenant, undefined);
      this.#next();
    });
  }

  #shift(): Waiting | undefined {
    const tenant = this.#turns.shift()?.key;
    if (tenant === undefined) return undefined;
    const waiting = this.#byNetwork.get(tenant) as FairQueue<string, Waiting>;
    const next = waiting.shift()?.item;
    if (waiting.count === 0) this.#byNetwork.delete(tenant);
    return next;
  }

  #next(): void {
    if (this.#running !== undefined || this.#closed) return;
    const waiting = this.#shift();
    if (waiting === undefined) return;
    const timer = setTimeout(() => this.#fail(new Error('the hash took too long')), this.#hashMsMax);
    this.#running = { ...waiting, timer };
    this.#start().postMessage(waiting.job);
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#file, { resourceLimits: { maxOldGenerationSizeMb: 32 } });
    worker.unref();
    // Messages of a replaced worker are ignored.
    const ended = (reason: string) => {
      if (this.#worker === worker) this.#fail(new Error(reason));
    };
    worker.on('message', ({ id, tag }: { id: number; tag: Uint8Array }) => this.#receive(id, tag));
    worker.on('error', (error) => ended(error.message));
    worker.on('exit', (code) => ended(`the thread of passwords ended: exit ${code}`));
    this.#worker = worker;
    return worker;
  }

  #receive(id: number, tag: Uint8Array): void {
    const running = this.#running;
    if (running?.job.id !== id) return;
    clearTimeout(running.timer);
    this.#running = undefined;
    running.resolve(tag);
    this.#next();
  }

  /** Ends the one that is under way; the next one has another thread. */
  #fail(error: Error): void {
    const [worker, running] = [this.#worker, this.#running];
    this.#worker = undefined;
    this.#running = undefined;
    void worker?.terminate();
    if (running !== undefined) {
      clearTimeout(running.timer);
      running.reject(error);
    }
    this.#next();
  }
}
