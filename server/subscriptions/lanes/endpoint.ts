/** One endpoint: how requests to it are authenticated, signed and sent, and what is made of its answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { retryAfterMs } from '../../core/lanes/schedule.ts';
import { limits } from '../../core/limits.ts';
import { OutboundError } from '../../core/outbound/guard.ts';
import type { Outbound, OutboundPool } from '../../core/outbound/outbound.ts';
import { Throttle } from '../../core/token-bucket.ts';
import { type EventRow, signerOf } from '../../events/index.ts';
import { excerptOf } from './excerpts.ts';
import { allowedRate } from './handshake.ts';
import type { Configured, DeliverySettings } from './settings.ts';
import { EndpointToken } from './token.ts';

/** What became of a request. `status`: of the answer, 0 without one. `retryAfterMs`: for which the endpoint wants to hear nothing. */
export type Attempt = {
  ok: boolean;
  status: number;
  ms: number;
  error?: string;
  answer?: string;
  retryAfterMs?: number;
};

export type EndpointServices = { outbound: Outbound; clock: Clock; baseUrl: string };

/** Between looks whether what waits for its turn is still to be sent. */
const LOOK_MS = 250;

export class Endpoint {
  readonly #services: EndpointServices;
  readonly #configured: Configured;
  readonly #tenant: string;
  readonly #settings: DeliverySettings;
  readonly #pools = new Map<number, OutboundPool>();
  readonly #token: EndpointToken;
  readonly #sending = new Set<Promise<unknown>>();
  #throttle: Throttle;
  #perSecond: number | undefined;
  #greeted: Promise<void> | undefined;
  #sign: ReturnType<typeof signerOf> | undefined;

  constructor(services: EndpointServices, configured: Configured, tenant: string, settings: DeliverySettings) {
    this.#services = services;
    this.#configured = configured;
    this.#tenant = tenant;
    this.#settings = settings;
    this.#token = new EndpointToken(services, tenant);
    this.#throttle = this.#limitedTo(settings.maxPerSecond);
    this.#perSecond = settings.handshake === true ? undefined : settings.maxPerSecond;
  }

  /** How many requests are allowed in a second; undefined: the endpoint was not asked yet. */
  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  /**
   * Sends events in one request.
   * @param connections of the pool that is used
   * @param cut aborted when nobody waits for the answer any more
   * @param isOver asked when it is their turn: whether they are not to be sent any more
   * @returns undefined where they were not sent, or cut off: they may have arrived or not, and are sent again
   */
  async send(
    events: readonly EventRow[],
    connections: number,
    cut: AbortSignal,
    isOver: () => boolean = () => false,
  ): Promise<Attempt | undefined> {
    const { promise: cutOff, resolve } = Promise.withResolvers<undefined>();
    const giveUp = () => resolve(undefined);
    cut.addEventListener('abort', giveUp);
    if (cut.aborted) giveUp();
    // A handshake and a token are asked for without the signal: others may wait for them, too.
    const attempt = this.#send(events, connections, cut, isOver);
    return Promise.race([cutOff, attempt]).finally(() => cut.removeEventListener('abort', giveUp));
  }

  async #send(
    events: readonly EventRow[],
    connections: number,
    aborted: AbortSignal,
    isOver: () => boolean,
  ): Promise<Attempt | undefined> {
    const { clock } = this.#services;
    let began = clock.monotonic();
    try {
      await this.#greet(connections);
      const waitMs = this.#throttle.reserve();
      if (waitMs > 0) await this.#wait(waitMs, aborted, isOver);
      const { contentType, text, headers = {} } = this.#configured.bodyOf(this.#settings, events);
      const authorization = await this.#token.headerOf(this.#settings.auth);
      const seconds = Math.floor(clock.now() / 1000);
      this.#sign ??= signerOf(this.#settings.signingSecrets);
      if (isOver()) return undefined;
      const signed = this.#sign({ id: idOf(events), seconds, body: text });
      began = clock.monotonic();
      const request = {
        method: 'POST' as const,
        headers: { 'content-type': contentType, 'user-agent': 'accord', ...headers, ...signed, ...authorization },
        body: text,
      };
      const sending = this.#pool(connections).send(request, aborted);
      this.#sending.add(sending);
      const answer = await sending.finally(() => this.#sending.delete(sending));
      if (answer.status === 401) this.#token.drop();
      return attemptOf(answer, clock, Math.round(clock.monotonic() - began));
    } catch (error) {
      if (aborted.aborted) return undefined;
      const why = error instanceof OutboundError ? error.reason : (error as Error).message;
      return { ok: false, status: 0, ms: Math.round(clock.monotonic() - began), error: excerptOf(why) };
    }
  }

  /** Closes the connections when what is on its way was answered. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#sending);
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  /** Waits for a turn by the rate, at most until it is over. */
  async #wait(ms: number, aborted: AbortSignal, isOver: () => boolean): Promise<void> {
    const { clock } = this.#services;
    const until = clock.monotonic() + ms;
    for (let left = ms; left > 0 && !isOver(); left = until - clock.monotonic())
      await sleep(Math.min(left, LOOK_MS), undefined, { signal: aborted });
  }

  #pool(connections: number): OutboundPool {
    let pool = this.#pools.get(connections);
    if (pool === undefined) {
      const bounds = { timeoutMs: limits.deliveryTimeoutMs, maxBytes: limits.deliveryAnswerBytesMax };
      pool = this.#services.outbound.pool(this.#settings.endpoint, { tenant: this.#tenant, connections, ...bounds });
      this.#pools.set(connections, pool);
    }
    return pool;
  }

  /** Asks the endpoint whether it wants events, once; again after it refused. @throws Error, OutboundError */
  #greet(connections: number): Promise<void> | undefined {
    const { handshake, maxPerSecond } = this.#settings;
    if (handshake !== true) return undefined;
    this.#greeted ??= allowedRate(this.#pool(connections), this.#services.baseUrl, maxPerSecond).then(
      (perSecond) => {
        this.#perSecond = Math.min(perSecond, maxPerSecond);
        this.#throttle = this.#limitedTo(this.#perSecond);
      },
      (error) => {
        this.#greeted = undefined;
        throw error;
      },
    );
    return this.#greeted;
  }

  #limitedTo(perSecond: number): Throttle {
    const burst = Math.max(1, Math.floor(perSecond / 10));
    return new Throttle({ perSecond, burst, monotonic: () => this.#services.clock.monotonic() });
  }
}

/** The id of a request: of its event; of several, one that they have whenever they are sent together. */
function idOf(events: readonly EventRow[]): string {
  const [first] = events as [EventRow];
  return events.length === 1 ? first.id : `${first.id}_${events.length}_${(events.at(-1) as EventRow).sequence}`;
}

function attemptOf(
  { status, headers, body }: { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer },
  clock: Clock,
  ms: number,
): Attempt {
  if (status >= 200 && status < 300) return { ok: true, status, ms };
  const after = status === 429 || status === 503 ? retryAfterMs(headers['retry-after'], clock.now()) : undefined;
  const answer = excerptOf(body.toString('utf8'));
  const isRedirect = status >= 300 && status < 400;
  return {
    ...{ ok: false, status, ms },
    error: isRedirect ? `answered ${status} (redirects are not followed)` : `answered ${status}`,
    ...(answer === '' ? {} : { answer }),
    ...(after === undefined ? {} : { retryAfterMs: after }),
  };
}
