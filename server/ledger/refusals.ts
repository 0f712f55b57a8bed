/** Owns the record of what is refused of consents: a request of a known caller that was refused is in the ledger before its answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isObject } from '../../crds/values.ts';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import { bodyProblem, Problem } from '../core/problems.ts';
import type { TenantSpec } from '../tenants/index.ts';
import { type About, entryOf } from './acting.ts';
import type { Ledger } from './append.ts';
import type { RegisterEntry } from './schema.ts';
import type { Throttled } from './throttled.ts';

export type RefusalServices = {
  ledger: Ledger;
  clock: Clock;
  throttled: Throttled;
  /** What this server serves of a tenant. @throws Problem 404, 503 */
  snapshotOf: (tenant: string) => { readonly spec: TenantSpec };
};

type Refused = { tenant: string; caller: Caller; requestId: string };

/** The entry on what a caller tried and was refused. @param code of the problem */
export function denial(services: RefusalServices, refused: Refused, about: About, code: string): RegisterEntry {
  const { caller, tenant } = refused;
  const { defaultActorType } = services.snapshotOf(tenant).spec.tokenMapping;
  const own = caller.kind === 'user' && caller.actor.type === defaultActorType ? { userId: caller.actor.id } : {};
  return entryOf(refused, { ...own, ...about, type: 'denied', time: services.clock.now(), outcome: code });
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

/**
 * Records a request of a known caller that was refused, before that is answered. What failed on our side is no attempt; of
 * what was too much (429), only the first of a second is recorded.
 */
async function recordRefusal(services: RefusalServices, request: FastifyRequest, error: unknown): Promise<void> {
  const { caller } = request;
  const { tenant } = request.params as { tenant: string };
  const refused = error instanceof Problem ? error : bodyProblem(error);
  const code = refused?.code ?? 'invalid_request';
  const status = refused?.status ?? (error as { statusCode?: number }).statusCode ?? 500;
  if (caller === null || status >= 500) return;
  if (status === 429 && !services.throttled.isRecorded(`${tenant} ${callerName(caller)}`)) return;
  const said = { ...(request.query as object), ...(isObject(request.body) ? (request.body as object) : {}) };
  const path = request.params as { userId?: unknown };
  const about = aboutOf({ ...(path.userId === undefined ? {} : { userId: path.userId }), ...said });
  await services.ledger.append(tenant, [denial(services, { tenant, caller, requestId: request.id }, about, code)]);
}

/** An error handler of routes: records the refusal, then leaves it to the application's error handler. */
export function recorded(services: RefusalServices) {
  return async (error: unknown, request: FastifyRequest, _reply: FastifyReply): Promise<never> => {
    await recordRefusal(services, request, error);
    throw error;
  };
}
