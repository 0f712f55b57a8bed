/**
 * Records requests about consents that were refused, before that is answered: by the room, by validation, or by a limit.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { isObject } from '../../crds/values.ts';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import { bodyProblem, Problem } from '../core/problems.ts';
import { type RequestTenant, tenantOf } from '../http/fastify.ts';
import { actedBy } from './acting.ts';
import type { Ledger } from './append.ts';
import type { RegisterEntry } from './schema.ts';

type About = Partial<Pick<RegisterEntry, 'userId' | 'name' | 'version' | 'document'>>;
type Asked = { tenant: RequestTenant; caller: Caller; requestId: string };
type Refused = Pick<FastifyRequest, 'tenant' | 'params' | 'query' | 'body' | 'caller' | 'id'>;

export class DeniedRequestRecorder {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  /** When a request of a caller that was too much was last recorded. */
  readonly #recordedAt = new LRUCache<string, number>({ max: limits.rateLimitCallersMax });

  constructor({ ledger, clock }: { ledger: Ledger; clock: Clock }) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** A route's: it records the refusal, then leaves it to the application's error handler. */
  readonly errorHandler = async (error: unknown, request: FastifyRequest, _reply: FastifyReply): Promise<never> => {
    await this.#record(request, error);
    throw error;
  };

  /** A request without a caller, and one that failed on our side (5xx), is not recorded. */
  async #record(request: Refused, error: unknown): Promise<void> {
    const { caller, id: requestId } = request;
    const refused = error instanceof Problem ? error : bodyProblem(error);
    const code = refused?.code ?? 'invalid_request';
    const status = refused?.status ?? (error as { statusCode?: number }).statusCode ?? 500;
    if (caller === null || status >= 500) return;
    const tenant = tenantOf(request);
    if (status === 429 && !this.#isDue(`${tenant.code} ${callerName(caller)}`)) return;
    const { userId } = request.params as { userId?: unknown };
    const said = { ...(request.query as object), ...(isObject(request.body) ? request.body : {}) };
    const about = aboutOf({ ...(userId === undefined ? {} : { userId }), ...said });
    await this.#ledger.append(tenant.code, [denied({ tenant, caller, requestId }, about, code, this.#clock.now())]);
  }

  /**
   * Whether a request that was too much (429) is recorded: the first of each second and caller. A caller that wrote to the
   * ledger with each of them would make it longer than it may make anything else.
   */
  #isDue(caller: string): boolean {
    const now = this.#clock.monotonic();
    const last = this.#recordedAt.get(caller);
    if (last !== undefined && now - last < limits.ledgerThrottledMs) return false;
    this.#recordedAt.set(caller, now);
    return true;
  }
}

/** The entry on what a caller tried and was refused. @param code of the problem @param time ms */
export function denied({ tenant, caller, requestId }: Asked, about: About, code: string, time: number): RegisterEntry {
  const isUser = caller.kind === 'user' && caller.actor.type === tenant.snapshot.spec.tokenMapping.defaultActorType;
  const own = isUser ? { userId: caller.actor.id } : {};
  return { ...actedBy(caller), requestId, ...own, ...about, type: 'denied', time, outcome: code };
}

/** What a refused request was about, as far as it says so legibly. */
function aboutOf(said: Record<string, unknown>): About {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const { version, language } = (said.document ?? {}) as Record<string, unknown>;
  const document = { version: text(version), language: text(language) };
  const about = {
    userId: text(said.userId),
    name: text(said.name),
    version: text(said.version),
    document: document.version !== undefined && document.language !== undefined ? document : undefined,
  };
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined)) as About;
}
