/**
 * Gives committed events their tenant's next numbers. Every server tries soon after its own commits, and twice a second for
 * what others left; one at a time does it, and the others come back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { withPartitions } from '../core/db/partitions.ts';
import { Drain } from '../core/drain.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { moveEvents, notifyMoved } from './store.ts';

type MoverServices = { database: Database; clock: Clock; observe: Observe };

/** Commits that come together are numbered together. */
const GATHER_MS = 5;
/** Between looks at the whole inbox. */
const WHOLE_MS = 60_000;

export class EventMover {
  readonly #services: MoverServices;
  readonly #moved: (tenants: readonly string[]) => void;
  /** Numbers of the inbox, and when they were reached (ms): what is below one that was reached long ago is gone. */
  readonly #marks: { at: number; n: number }[] = [];
  #wholeAt = Number.NEGATIVE_INFINITY;
  #asked = false;
  #closed = false;
  readonly #moving = new Drain(
    () => this.#asked && !this.#closed,
    () => this.#work(),
  );

  /** @param moved told which tenants have new events */
  constructor(services: MoverServices, moved: (tenants: readonly string[]) => void) {
    this.#services = services;
    this.#moved = moved;
  }

  /** Numbers what is committed now, soon. */
  hint(): void {
    if (this.#closed) return;
    this.#asked = true;
    void this.#moving.run();
  }

  /** Numbers what is committed now. Resolves when nothing waits, or when another server does it. */
  async move(): Promise<void> {
    let taken: number = limits.eventsMovedMax;
    while (taken === limits.eventsMovedMax && !this.#closed) taken = await this.#some();
    if (this.#asked) void this.#moving.run();
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#moving.running;
  }

  async #work(): Promise<void> {
    await sleep(GATHER_MS);
    this.#asked = false;
    try {
      await this.move();
    } catch (error) {
      this.#services.observe({ kind: 'background_failed', task: 'numbering events', error });
    }
  }

  async #some(): Promise<number> {
    const { database } = this.#services;
    const now = this.#services.clock.monotonic();
    // A transaction may take its number early and commit late, but not later than this.
    while (this.#marks[1] !== undefined && this.#marks[1].at < now - limits.eventInboxWatermarkMs) this.#marks.shift();
    const [oldest] = this.#marks;
    const isOld = oldest !== undefined && oldest.at < now - limits.eventInboxWatermarkMs;
    const from = isOld && now < this.#wholeAt + WHOLE_MS ? oldest.n + 1 : 0;
    if (from === 0) this.#wholeAt = now;
    const { mine, moved, last, tenants } = await this.#numbered(from);
    // Whoever moves them may have begun before the commit that we were told of.
    if (!mine) this.#asked = true;
    if (moved === 0) return 0;
    const newest = this.#marks.at(-1);
    // One mark a second is enough.
    if (newest === undefined || newest.at < now - 1000) this.#marks.push({ at: now, n: last });
    this.#moved(tenants);
    // A hint: who does not get it looks by itself.
    database.systemPipelined((tx) => notifyMoved(tx, tenants)).catch(() => {});
    return moved;
  }

  #numbered(from: number) {
    const { database } = this.#services;
    return withPartitions(database, () => database.systemPipelined((tx) => moveEvents(tx, from)));
  }
}
