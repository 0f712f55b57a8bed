/**
 * The source of manifests in a directory. It believes what it reads but not what it misses: an object that was there and
 * is not found any more is gone only when a second look agrees and every file could be read whole.
 */
import type { Clock } from '../../server/core/clock.ts';
import type { Observe } from '../../server/core/observe.ts';
import { kindNames } from '../kinds/index.ts';
import type { Key, KindName, ResourceStatus, Source, SourceHandlers, SourceProblem, StatusTarget } from '../source.ts';
import { merge, type Store } from './merge.ts';
import { Parser } from './parser.ts';
import { type FileState, readStates } from './states.ts';
import { StatusFiles } from './status.ts';
import { listTree } from './tree.ts';
import { Watches } from './watch.ts';

type FileSourceOptions = {
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
  readonly #parser = new Parser();
  readonly #watches = new Watches(() => this.#hinted());
  readonly #debounceMs: number;
  #states = new Map<string, FileState>();
  #store: Store = { objects: new Map(), missing: new Map(), problems: [], complete: false };
  #handlers: SourceHandlers | undefined;
  readonly #vanishMs: number;
  #next: NodeJS.Timeout | undefined;
  #hint: NodeJS.Timeout | undefined;
  /** The first hint that was not looked into yet. */
  #hintedAt: number | undefined;
  #scanning: Promise<void> | undefined;
  #closed = false;

  constructor(options: FileSourceOptions) {
    this.#options = options;
    this.#debounceMs = options.debounceMs ?? DEBOUNCE_MS;
    this.#vanishMs = options.vanishMs ?? VANISH_MS;
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

  removeFinalizer(target: StatusTarget): Promise<void> {
    return this.#status.remove(target);
  }

  /** A directory has no events; whoever started us is told of every status. */
  event(): void {}

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#next);
    clearTimeout(this.#hint);
    this.#watches.close();
    await this.#parser.close();
    await this.#scanning;
  }

  /** Somebody may be writing still: a later hint puts the reading off, but not for ever. */
  #hinted(): void {
    if (this.#closed) return;
    const now = this.#options.clock.monotonic();
    this.#hintedAt ??= now;
    if (this.#hint && now - this.#hintedAt > HINTS_MS_MAX) return;
    clearTimeout(this.#hint);
    this.#hint = setTimeout(() => {
      this.#hint = undefined;
      this.#hintedAt = undefined;
      void this.#scan(false);
    }, this.#debounceMs);
  }

  #scanIn(ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#next);
    this.#next = setTimeout(() => void this.#scan(false), ms);
  }

  async #scan(first: boolean): Promise<void> {
    if (this.#scanning) return this.#hinted();
    this.#scanning = this.#look(first)
      .catch((error) => this.#options.observe({ kind: 'source_failed', source: 'files', error }))
      .finally(() => {
        this.#scanning = undefined;
      });
    await this.#scanning;
    this.#scanIn(this.#store.missing.size > 0 ? this.#vanishMs : (this.#options.rescanMs ?? RESCAN_MS));
  }

  async #look(first: boolean): Promise<void> {
    const { directory, statusDirectory, clock } = this.#options;
    const listing = await listTree(directory, statusDirectory);
    // What is watched from here on nobody would let go.
    if (this.#closed) return;
    if (this.#watches.follow(listing.directories)) this.#hinted();
    const { states, changing } = await readStates(directory, listing, this.#states, clock.now(), this.#parser);
    if (this.#closed) return;
    const vanishMs = first ? 0 : this.#vanishMs;
    const before = this.#store;
    this.#states = states;
    this.#store = merge({ states, listing, changing, before, now: clock.monotonic(), vanishMs });
    if (changing) this.#hinted();
    this.#tell(before, first);
  }

  #tell(before: Store, first: boolean): void {
    const { objects, problems, complete } = this.#store;
    const keys = new Set([...before.objects.keys(), ...objects.keys()]);
    const changed = [...keys].filter((key) => before.objects.get(key) !== objects.get(key));
    if (changed.length > 0) this.#handlers?.changed(changed);
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
