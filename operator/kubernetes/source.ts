/**
 * The source of manifests in a Kubernetes cluster: one reflector a kind feeds one store, and what the operator has to say
 * goes back as status, finalizer and event. What it knows stays known while the API server does not answer.
 */
import type { Clock } from '../../server/core/clock.ts';
import type { Observe } from '../../server/core/observe.ts';
import { kindNames } from '../kinds/index.ts';
import type {
  Key,
  KindName,
  ResourceStatus,
  SecretAccess,
  Source,
  SourceHandlers,
  SourceObject,
  SourceProblem,
  StatusTarget,
} from '../source.ts';
import type { KubernetesApi } from './api.ts';
import { listPathOf, pluralOf } from './convert.ts';
import { Events } from './events.ts';
import { Namespaces } from './namespaces.ts';
import { ObjectCache } from './object-cache.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { Secrets } from './secrets.ts';
import { Writes } from './writes.ts';

export type KubernetesSourceOptions = {
  /** Stays the caller's to close. */
  api: KubernetesApi;
  clock: Clock;
  observe: Observe;
  random?: () => number;
  /** Silence after which a watch is given up, in ms. */
  idleMs?: number;
  /** Between two looks at a Secret that is referred to. */
  secretPollMs?: { min: number; max: number };
};

export class KubernetesSource implements Source {
  readonly name = 'kubernetes';
  readonly secrets: SecretAccess;
  readonly #options: KubernetesSourceOptions;
  readonly #store: ObjectCache;
  readonly #namespaces: Namespaces;
  readonly #reflectors = new Map<KindName | 'Namespace', Reflector>();
  readonly #writes: Writes;
  readonly #events: Events;
  readonly #secrets: Secrets;
  #handlers: SourceHandlers | undefined;
  #problems: readonly SourceProblem[] = [];
  #complete = new Set<KindName>();
  #started = false;

  constructor(options: KubernetesSourceOptions) {
    const { api, clock, observe, random = Math.random, secretPollMs } = options;
    this.#options = options;
    const changed = (keys: readonly Key[]) => this.#handlers?.changed(keys);
    this.#store = new ObjectCache(changed, observe);
    this.#namespaces = new Namespaces((names) => {
      // Before that nobody has looked at the objects with the labels in mind.
      if (!this.#started) return;
      const keys = names.flatMap((name) => [...this.#store.inNamespace(name)]);
      if (keys.length > 0) changed(keys);
    });
    this.#follow('Namespace', 'namespaces', '/api/v1/namespaces', this.#namespaces.sink);
    for (const kind of kindNames) {
      this.#follow(kind, `${pluralOf(kind)}.accord.dev`, listPathOf(kind), this.#store.sinkOf(kind));
    }
    this.#writes = new Writes({ api, store: this.#store, complete: (kind) => this.complete(kind), clock, observe });
    this.#events = new Events({ api, clock, observe });
    const get = (key: Key) => this.get(key);
    this.#secrets = new Secrets({ api, get, changed, observe, random, ...(secretPollMs && { pollMs: secretPollMs }) });
    this.secrets = this.#secrets;
  }

  async start(handlers: SourceHandlers): Promise<void> {
    this.#handlers = handlers;
    await Promise.all([...this.#reflectors.values()].map((reflector) => reflector.start()));
    this.#started = true;
    for (const kind of kindNames) handlers.synced(kind);
  }

  get(key: Key): SourceObject | undefined {
    return this.#store.entry(key)?.object;
  }

  keys(kind: KindName): Iterable<Key> {
    return this.#store.keys(kind);
  }

  complete(kind: KindName): boolean {
    return this.#complete.has(kind);
  }

  problems(): readonly SourceProblem[] {
    return this.#problems;
  }

  namespaceLabels(namespace: string): Readonly<Record<string, string>> | undefined {
    return this.#namespaces.labels(namespace);
  }

  writeStatus(target: StatusTarget, status: ResourceStatus): Promise<void> {
    return this.#writes.status(target, status);
  }

  addFinalizer(object: SourceObject): Promise<void> {
    return this.#writes.addFinalizer(object);
  }

  removeFinalizer(target: StatusTarget): Promise<void> {
    return this.#writes.removeFinalizer(target);
  }

  event(target: StatusTarget, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#events.tell(target, type, reason, message);
  }

  async close(): Promise<void> {
    this.#events.close();
    await Promise.all([...this.#reflectors.values()].map((reflector) => reflector.close()));
    await this.#secrets.close();
  }

  #follow(kind: KindName | 'Namespace', resource: string, path: string, sink: ReflectorOptions['sink']): void {
    const { api, clock, observe, random = Math.random, idleMs } = this.#options;
    const onState = () => this.#noticed(kind);
    const options = { api, resource, path, sink, onState, clock, observe, random };
    this.#reflectors.set(kind, new Reflector(idleMs === undefined ? options : { ...options, idleMs }));
  }

  #noticed(kind: KindName | 'Namespace'): void {
    const complete = this.#reflectors.get(kind)?.complete === true;
    if (kind !== 'Namespace' && complete !== this.#complete.has(kind)) {
      if (complete) this.#complete.add(kind);
      else this.#complete.delete(kind);
      if (this.#started) this.#handlers?.synced(kind);
    }
    const before = this.#problems;
    this.#problems = [...this.#reflectors.values()].flatMap(({ resource, problem }) =>
      problem === undefined ? [] : [{ place: resource, message: problem }],
    );
    for (const { place, message } of this.#problems) {
      if (before.some((one) => one.place === place && one.message === message)) continue;
      const error = new Error(`${place}: ${message}`);
      this.#options.observe({ kind: 'source_failed', source: 'kubernetes', error });
    }
    if (JSON.stringify(before) !== JSON.stringify(this.#problems)) this.#handlers?.problems(this.#problems);
  }
}
