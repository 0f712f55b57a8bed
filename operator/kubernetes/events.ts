/**
 * Kubernetes events about our objects (core/v1), for `kubectl describe`. Best effort: they are for people, so one that says what
 * the last one said is left out, and a flood is cut off; how many were left out is counted.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { CoreV1Event } from '@kubernetes/client-node';
import { LRUCache } from 'lru-cache';
import { apiVersion } from '../../crds/index.ts';
import type { Clock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observe } from '../../server/core/observe.ts';
import { Throttle } from '../../server/core/token-bucket.ts';
import type { StatusTarget } from '../source.ts';
import type { KubernetesApi } from './api.ts';

const PER_SECOND = 5;
/** As the events of one object are, by the recorder of client-go. */
const OBJECT_BURST = 10;
const OBJECT_PER_SECOND = 1 / 60;
const REPEATED_MS = 600_000;
const TOLD_EVERY_MS = 60_000;
/** The API server's bound is 1,024 bytes, and a character has at most four. */
const MESSAGE_CHARS_MAX = 250;

type Known = { bucket: Throttle; said: string; saidAt: number };

export class Events {
  /** How many were left out since the start. */
  dropped = 0;
  /** How many the API server has not answered yet. */
  sending = 0;
  readonly #api: KubernetesApi;
  readonly #clock: Clock;
  readonly #observe: Observe;
  readonly #all: Throttle;
  readonly #objects = new LRUCache<string, Known>({ max: limits.kubernetesEventObjectsMax });
  #unreported = 0;
  #toldAt: number;
  #closed = false;

  constructor({ api, clock, observe }: { api: KubernetesApi; clock: Clock; observe: Observe }) {
    this.#api = api;
    this.#clock = clock;
    this.#observe = observe;
    const monotonic = () => clock.monotonic();
    this.#all = new Throttle({ perSecond: PER_SECOND, burst: limits.kubernetesEventsBurstMax, monotonic });
    this.#toldAt = clock.monotonic();
  }

  /** Returns at once. */
  tell(target: StatusTarget, type: 'Normal' | 'Warning', reason: string, message: string): void {
    if (this.#closed || !this.#isWorth(target, `${type} ${reason} ${message}`)) return;
    if (this.sending >= limits.kubernetesEventsWaitingMax) {
      this.#drop();
      return;
    }
    this.sending += 1;
    const event = this.#eventOf(target, type, reason, message);
    const path = `/api/v1/namespaces/${event.metadata.namespace}/events`;
    this.#api
      .request({ method: 'POST', path, body: event })
      .catch(() => this.#drop())
      .finally(() => {
        this.sending -= 1;
      });
  }

  close(): void {
    this.#closed = true;
    this.#count();
  }

  #isWorth({ uid }: StatusTarget, said: string): boolean {
    const now = this.#clock.monotonic();
    const monotonic = () => this.#clock.monotonic();
    const bucket = () => new Throttle({ perSecond: OBJECT_PER_SECOND, burst: OBJECT_BURST, monotonic });
    const known = this.#objects.get(uid) ?? { bucket: bucket(), said: '', saidAt: 0 };
    if (known.said === said && now - known.saidAt < REPEATED_MS) return false;
    this.#objects.set(uid, { ...known, said, saidAt: now });
    if (known.bucket.take() && this.#all.take()) return true;
    this.#drop();
    return false;
  }

  #eventOf(target: StatusTarget, type: string, reason: string, message: string): CoreV1Event {
    const { kind, name, uid } = target;
    // An event is in the namespace of its object, and in this one for objects that have none.
    const namespace = target.namespace === '' ? 'default' : target.namespace;
    const now = new Date(this.#clock.now());
    const about = { apiVersion, kind, name, uid, ...(target.namespace === '' ? {} : { namespace }) };
    const text = message.length > MESSAGE_CHARS_MAX ? `${message.slice(0, MESSAGE_CHARS_MAX - 1)}…` : message;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name.slice(0, 200)}.${randomBytes(8).toString('hex')}`, namespace },
      involvedObject: about,
      ...{ type, reason, message: text.toWellFormed(), count: 1, firstTimestamp: now, lastTimestamp: now },
      source: { component: 'accord-operator' },
      reportingComponent: 'accord-operator',
      reportingInstance: hostname(),
    };
  }

  #drop(): void {
    this.dropped += 1;
    this.#unreported += 1;
    if (this.#clock.monotonic() - this.#toldAt > TOLD_EVERY_MS) this.#count();
  }

  #count(): void {
    if (this.#unreported > 0) this.#observe({ kind: 'kubernetes_events_dropped', count: this.#unreported });
    this.#unreported = 0;
    this.#toldAt = this.#clock.monotonic();
  }
}
