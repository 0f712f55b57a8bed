/**
 * The source of manifests in a directory. It believes what it reads but not what it misses: an object that was there and
 * is not found any more is gone only when a second look agrees and every file could be read whole.
 */
import type { Clock } from '../../server/core/clock.ts';
import type { Observe } from '../../server/core/observe.ts';
import {
  type Key,
  type KindName,
  kindNames,
  type ResourceStatus,
  type Source,
  type SourceHandlers,
  type SourceProblem,
  type StatusTarget,
} from '../source.ts';
import { type FileState, readStates } from './states.ts';
import { StatusFiles } from './status.ts';
import { arrange, type Store } from './store-of-files.ts';
import { listTree } from './tree.ts';
import { Watches } from './watch.ts';

export type FileSourceOptions = {
  /** Where the manifests are. */
  directory: string;
  /** Where their status goes, such as .accord/status. */
  statusDirectory: string;
  clock: Clock;
  observe: Observe;
  /** Quiet for this long after a hint before anything is read. */
  debounceMs?: number;
  rescanMs?: number;
  /** What is missing for this long is gone: editors remove a file before they put its new version there. */
  vanishMs?: number;
};

const DEBOUNCE_MS = 40;
const HINTS_MS_MAX = 400;
const RESCAN_MS = 5000;
const VANISH_MS = 150;

export class FileSource implements Source {
  readonly name = 'files';
  readonly #options: FileSourceOptions;
  readonly #status: StatusFiles;
  readonly #watches = new Watches(() => this.#soon(this.#debounceMs));
  readonly #debounceMs: number;
  #states = new Map<string, FileState>();
  #store: Store = { objects: new Map(), missing: new Map(), problems: [], complete: false };
  #handlers: SourceHandlers | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  /** The first hint that was not looked into yet. */
  #hintedAt: number | undefined;
  #scanning: Promise<void> | undefined;
  #closed = false;

  constructor(options: FileSourceOptions) {
    this.#options = options;
    this.#debounceMs = options.debounceMs ?? DEBOUNCE_MS;
    this.#status = new StatusFiles(options.statusDirectory);
  }

  async start(handlers: SourceHandlers): Promise<void> {
    this.#handlers = handlers;
    await this.#scan(true);
  }

  get(key: Key) {
    return this.#store.objects.get(key);
  }

  *keys(kind: KindName): Iterable<Key> {
    for (const object of this.#store.objects.values()) if (object.kind === kind) yield object.key;
  }

  complete(_kind: KindName): boolean {
    return this.#store.complete;
  }

  problems(): readonly SourceProblem[] {
    return this.#store.problems;
  }

  writeStatus(target: StatusTarget, status: ResourceStatus): Promise<void> {
    return this.#status.write(target, status);
  }

  release(target: StatusTarget): Promise<void> {
    return this.#status.remove(target);
  }

  /** A directory has no events; whoever started us is told of every status. */
  event(): void {}

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#watches.close();
    await this.#scanning;
  }

  /** A later hint puts the reading off (somebody is still writing), but not for ever; a re-scan never does. */
  #soon(ms: number): void {
    if (this.#closed) return;
    const now = this.#options.clock.monotonic();
    const dueAt = now + ms;
    if (ms === this.#debounceMs) {
      this.#hintedAt ??= now;
      if (this.#dueAt < dueAt && now - this.#hintedAt > HINTS_MS_MAX) return;
    } else if (dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => {
      this.#dueAt = Number.POSITIVE_INFINITY;
      this.#hintedAt = undefined;
      void this.#scan(false);
    }, ms);
  }

  async #scan(first: boolean): Promise<void> {
    if (this.#scanning) return void this.#soon(this.#debounceMs);
    this.#scanning = this.#look(first)
      .catch((error) => this.#options.observe({ kind: 'source_failed', source: 'files', error }))
      .finally(() => {
        this.#scanning = undefined;
      });
    await this.#scanning;
    this.#soon(this.#options.rescanMs ?? RESCAN_MS);
  }

  async #look(first: boolean): Promise<void> {
    const { directory, statusDirectory, clock } = this.#options;
    const listing = await listTree(directory, statusDirectory);
    if (this.#watches.follow(listing.directories)) this.#soon(this.#debounceMs);
    const { states, changing } = await readStates(directory, listing, this.#states, clock.now());
    if (this.#closed) return;
    const vanishMs = first ? 0 : (this.#options.vanishMs ?? VANISH_MS);
    const before = this.#store;
    this.#states = states;
    this.#store = arrange({ states, listing, changing, before, now: clock.monotonic(), vanishMs });
    if (changing) this.#soon(this.#debounceMs);
    if (this.#store.missing.size > 0) this.#soon(vanishMs);
    this.#tell(before, first);
  }

  #tell(before: Store, first: boolean): void {
    const { objects, problems, complete } = this.#store;
    const keys = new Set([...before.objects.keys(), ...objects.keys()]);
    for (const key of keys) if (before.objects.get(key) !== objects.get(key)) this.#handlers?.changed(key);
    if (first || complete !== before.complete) for (const kind of kindNames) this.#handlers?.synced(kind);
    if (JSON.stringify(problems) !== JSON.stringify(before.problems)) {
      for (const { place, message } of problems) {
        if (before.problems.some((one) => one.place === place && one.message === message)) continue;
        this.#options.observe({ kind: 'source_failed', source: 'files', error: new Error(`${place}: ${message}`) });
      }
      this.#handlers?.problems(problems);
    }
  }
}
