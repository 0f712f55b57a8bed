/**
 * Leading by a Lease: one operator at a time, and none that was frozen. Others take a Lease that they have not seen
 * renewed for its duration; the leader ends its process sooner, at the first renewal that is missed. What a frozen leader
 * has already sent is refused by Postgres: each holding of the Lease is one term there (../terms.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../server/core/clock.ts';
import type { Database } from '../../server/core/db/database.ts';
import type { StaleTerm, Term } from '../../server/core/db/fence.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observe } from '../../server/core/observe.ts';
import type { Leadership, LeadershipCallbacks } from '../leadership.ts';
import { acquireTerm, nextEpoch, OtherCluster, TermTaken } from '../terms.ts';
import { readClusterUid } from './cluster.ts';
import { ApiError } from './errors.ts';
import { Holding, LEASE_REQUEST_MS } from './lease-holding.ts';
import {
  FINALIZER_REMOVER,
  isConflict,
  type Lease,
  type LeasePlace,
  microTime,
  readLease,
  writeLease,
} from './lease-object.ts';
import { SeenLease } from './seen-lease.ts';

type LeaseOptions = LeasePlace & {
  /** Never used by another process, nor by a later life of this one. */
  identity: string;
  /** Where terms are acquired; not the fenced view. */
  database: Database;
  source: string;
  /** Lead although the rows are of another cluster's manifests. */
  adopt: boolean;
  clock: Clock;
  observe: Observe;
  /** Ends the process at once: another one leads, or may. */
  exit: (why: string) => void;
};

export class LeaseLeadership {
  readonly #options: LeaseOptions;
  readonly #seen: SeenLease;
  #cluster: string | undefined;
  #callbacks: LeadershipCallbacks | undefined;
  #holding: Holding | undefined;
  #term: Term | undefined;
  #trouble: string | undefined;
  #told = '';
  #isOver = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#seen = new SeenLease(options.clock);
  }

  readonly lead: Leadership = (callbacks) => {
    this.#callbacks = callbacks;
    const closing = new AbortController();
    const running = this.#run(closing.signal);
    return {
      async close() {
        closing.abort();
        await running;
      },
    };
  };

  /** Why this operator could not lead if it had to; undefined when it could, or does. */
  get trouble(): string | undefined {
    return this.#trouble ?? this.#holding?.trouble;
  }

  /** It led, and must not any more: the process should be gone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The term to write under. */
  term(): Term | undefined {
    return this.#holding?.isValid() ? this.#term : undefined;
  }

  /** Postgres refused a transaction of the term. */
  refused(error: StaleTerm): void {
    this.#end(error.message);
  }

  async #run(closing: AbortSignal): Promise<void> {
    while (!closing.aborted && !this.#isOver) {
      let pauseMs: number = limits.leaseRetryMs * (0.9 + Math.random() / 10);
      try {
        const lease = await readLease(this.#options, { timeoutMs: LEASE_REQUEST_MS, signal: closing });
        const freeInMs = this.#seen.freeInMs(lease);
        if (freeInMs <= 0) await this.#serve(await this.#take(lease, closing), closing);
        else {
          this.#trouble = undefined;
          this.#tell(waitingFor(lease?.spec.holderIdentity ?? ''));
          pauseMs = Math.min(pauseMs, freeInMs);
        }
      } catch (error) {
        if (closing.aborted || this.#isOver) return;
        if (!isConflict(error)) this.#fail(error);
      }
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => {});
    }
  }

  /** @throws ApiError 409 when somebody else was faster */
  async #take(before: Lease | undefined, signal: AbortSignal): Promise<Holding> {
    const { database, source, adopt, identity, clock, observe } = this.#options;
    this.#cluster ??= await readClusterUid(this.#options.api, signal);
    const lowest = await nextEpoch(database, source, { cluster: this.#cluster, adopt });
    const takenAt = clock.monotonic();
    const now = microTime(clock.now());
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: limits.leaseDurationMs / 1000,
      leaseTransitions: Math.max((before?.spec.leaseTransitions ?? 0) + 1, lowest),
      acquireTime: now,
      renewTime: now,
    };
    const lease = await writeLease(this.#options, before, spec, { timeoutMs: LEASE_REQUEST_MS });
    const lost = (why: string) => this.#end(why);
    return new Holding({ place: this.#options, identity, clock, observe, lease, takenAt, lost });
  }

  /** Acquires the term of a holding and works until closed, or until the work cannot begin. */
  async #serve(holding: Holding, closing: AbortSignal): Promise<void> {
    const { database, source, identity, adopt } = this.#options;
    const { epoch } = holding;
    this.#holding = holding;
    try {
      const cluster = this.#cluster as string;
      await acquireTerm(database, source, { epoch, holder: identity, cluster, adopt });
      this.#term = { source, epoch };
      await untilAborted(this.#callbacks?.started(), closing);
      this.#trouble = undefined;
      this.#told = '';
      await untilAborted(new Promise(() => {}), closing);
    } finally {
      this.#callbacks?.stopped();
      this.#term = undefined;
      this.#holding = undefined;
      await holding.resign();
    }
  }

  #fail(error: unknown): void {
    this.#trouble = describe(error);
    this.#tell(this.#trouble);
    this.#options.observe({ kind: 'background_failed', task: 'leading', error });
  }

  #tell(message: string): void {
    if (message !== this.#told) this.#callbacks?.waiting(message);
    this.#told = message;
  }

  #end(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#term = undefined;
    this.#trouble = why;
    this.#callbacks?.stopped();
    this.#options.exit(why);
  }
}

/** Rejects when closed before the promise is done. */
async function untilAborted(promise: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  await Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

function waitingFor(holder: string): string {
  if (!holder.startsWith(FINALIZER_REMOVER))
    return `Another operator is the leader (${holder}); waiting until it stops.`;
  return `accord finalizers remove holds the Lease (${holder}), so that no operator becomes the leader while one is uninstalled; waiting.`;
}

function describe(error: unknown): string {
  const { message } = error as Error;
  if (error instanceof ApiError) return `Waiting for the Kubernetes API server. ${message}`;
  if (error instanceof OtherCluster) return message;
  if (error instanceof TermTaken) return `Another operator became the leader: ${message}`;
  return `Waiting for the database: ${message}`;
}
