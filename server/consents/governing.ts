/** Owns what the room's verbs share: what they need, who asks, whose consents it is about, and what is recorded of it. */
import { isObject } from '../../crds/values.ts';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Author } from '../core/author.ts';
import { wrongId } from '../core/ids.ts';
import { type Once, onceOf } from '../core/once.ts';
import { bodyProblem, Problem, problem } from '../core/problems.ts';
import type { Definitions } from '../definitions/index.ts';
import { actedBy, type Ledger, type RegisterEntry } from '../ledger/index.ts';
import type { TenantSpec } from '../tenants/index.ts';
import type { WriteServices } from '../writes/index.ts';
import type { PastConsents } from './past.ts';
import type { Throttled } from './throttled.ts';

export type ConsentServices = WriteServices & {
  ledger: Ledger;
  past: PastConsents;
  throttled: Throttled;
  /** What this server serves of a tenant. @throws Problem 404, 503 */
  snapshotOf: (tenant: string) => { readonly spec: TenantSpec; readonly definitions: Definitions };
};

export type Asking = { tenant: string; caller: Caller; requestId: string; once?: Once };

/** The caller of a request. access.ts has let it in. */
export function askingOf(request: {
  params: { tenant: string };
  caller: Caller | null;
  id: string;
  once?: Once | null;
}): Asking {
  const { params, caller, id: requestId } = request;
  return { tenant: params.tenant, caller: caller as Caller, requestId, ...onceOf(request) };
}

/** What is done with consents is in the ledger, and not in the audit. */
export function authorOf({ tenant, once }: Asking): Author {
  return { tenant, once };
}

/** The user that a caller is, or undefined for a back end. @throws Problem forbidden for an actor that is no user of consents */
export function userOf(services: Pick<ConsentServices, 'snapshotOf'>, { tenant, caller }: Asking): string | undefined {
  if (caller.kind === 'backend') return undefined;
  const { defaultActorType } = services.snapshotOf(tenant).spec.tokenMapping;
  if (caller.kind === 'user' && caller.actor.type === defaultActorType) return caller.actor.id;
  throw problem('forbidden', { detail: `Only actors of the type ${defaultActorType} have consents.` });
}

/**
 * Whose consents a request is about: a user's own, whatever a back end says (undefined when it says nothing).
 * @param pointer where the request says it
 * @throws Problem forbidden when a user names another, invalid_request
 */
export function concerned(
  services: Pick<ConsentServices, 'snapshotOf'>,
  asking: Asking,
  said: string | undefined,
  pointer: string,
): string | undefined {
  const own = userOf(services, asking);
  if (own !== undefined) {
    if (said === undefined || said === own) return own;
    const detail = 'A user may ask and act for itself only.';
    throw problem('forbidden', { detail, errors: [{ pointer, detail }] });
  }
  const wrong = said === undefined ? undefined : wrongId(said);
  if (wrong !== undefined) throw problem('invalid_request', { detail: wrong, errors: [{ pointer, detail: wrong }] });
  return said;
}

/** As concerned, of a request that is about somebody. */
export function concernedUser(
  services: Pick<ConsentServices, 'snapshotOf'>,
  asking: Asking,
  said: string | undefined,
  pointer: string,
): string {
  const user = concerned(services, asking, said, pointer);
  if (user !== undefined) return user;
  const detail = 'A back end says which user it is about.';
  throw problem('invalid_request', { detail, errors: [{ pointer, detail }] });
}

type About = Partial<Pick<RegisterEntry, 'userId' | 'name' | 'version' | 'document'>>;

/** One entry of the ledger on what a caller asked or did. */
export function entryOf(
  { caller, requestId }: Asking,
  entry: Pick<RegisterEntry, 'type' | 'time' | 'outcome'> & About,
): RegisterEntry {
  return { ...actedBy(caller), requestId, ...entry };
}

/** The entry on what a caller tried and was refused. @param code of the problem */
export function denial(services: ConsentServices, asking: Asking, about: About, code: string): RegisterEntry {
  const { caller, tenant } = asking;
  const { defaultActorType } = services.snapshotOf(tenant).spec.tokenMapping;
  const own = caller.kind === 'user' && caller.actor.type === defaultActorType ? { userId: caller.actor.id } : {};
  return entryOf(asking, { ...own, ...about, type: 'denied', time: services.clock.now(), outcome: code });
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

type Refused = {
  params: unknown;
  query: unknown;
  body: unknown;
  caller: Caller | null;
  id: string;
};

/**
 * Records a request of a known caller that was refused, before that is answered. What failed on our side is no attempt; of
 * what was too much (429), only the first of a second is recorded.
 */
export async function recordRefusal(services: ConsentServices, request: Refused, error: unknown): Promise<void> {
  const { caller } = request;
  const { tenant } = request.params as { tenant: string };
  const refused = error instanceof Problem ? error : bodyProblem(error);
  const code = refused?.code ?? 'invalid_request';
  const status = refused?.status ?? (error as { statusCode?: number }).statusCode ?? 500;
  if (caller === null || status >= 500) return;
  if (status === 429 && !services.throttled.isRecorded(`${tenant} ${callerName(caller)}`)) return;
  const asking = { tenant, caller, requestId: request.id };
  const said = { ...(request.query as object), ...(isObject(request.body) ? (request.body as object) : {}) };
  const path = request.params as { userId?: unknown };
  const about = aboutOf({ ...(path.userId === undefined ? {} : { userId: path.userId }), ...said });
  await services.ledger.append(tenant, [denial(services, asking, about, code)]);
}
