/** The verbs of the search room: which entities (subjects or resources) of a type, and which policies, a decision would allow. */
import {
  type AuthorizationRequest,
  type AuthzServices,
  type Checked,
  checkAll,
  type DecisionContext,
  evaluationOf,
} from '../authz/index.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { sharedSide } from '../facts/index.ts';
import type { Failure } from '../policies/index.ts';
import { type Enumerate, enumerationOf } from './enumeration.ts';
import type { EntitySearch, Found, Page } from './schema.ts';

export type SearchServices = AuthzServices & { database: Pick<Database, 'read'> };

/** Counts decisions before they are made; false: no more of them now. It may throw where nothing was made yet. */
export type ChargeRate = (decisions: number) => boolean;

/**
 * A page of the entities of a type that the decision allows, by id in byte order. It may have few, or none, though there are
 * more: at most limits.searchCandidatesMax are checked, and no more once limits.searchPageMsMax have passed, or than may
 * be spent.
 * @throws Problem forbidden when an end user asks about somebody else; what `chargeRate` throws
 */
export async function searchEntities(
  given: SearchServices & { chargeRate: ChargeRate },
  context: DecisionContext,
  search: EntitySearch,
  page: Page,
): Promise<Found> {
  const { vary, request } = search;
  const services = { ...given, facts: sharedSide(given.facts, vary === 'subject' ? 'resource' : 'subject') };
  const withId = (id: string): AuthorizationRequest => ({
    ...request,
    [vary]: { ...request[vary], id, type: search.type },
  });
  const now = services.clock.now();
  evaluationOf(context, request, now); // a user asks only about itself, also if there is nothing to check
  const policy = request.action === undefined ? undefined : context.snapshot.policies.get(request.action);
  if (policy === undefined) return { found: [], candidates: 0, undecided: [] };
  // Where the answer is not known, it may be so.
  const mayBeAllowed = async (id: string) => {
    const [one] = await checkAll(services, context, [withId(id)], now);
    return one?.allowed === true || one?.undecided !== undefined;
  };
  const enumerate = enumerationOf(services.database, context.snapshot, policy, search, { mayBeAllowed, now });
  return checked(services, context, page, now, { enumerate, requestOf: withId });
}

/**
 * A page of the policies of a type of resource, {type}:…, that allow the request, by name.
 * @throws Problem forbidden when an end user asks about somebody else; what `chargeRate` throws
 */
export async function searchPolicies(
  services: SearchServices & { chargeRate: ChargeRate },
  context: DecisionContext,
  search: { type: string; request: AuthorizationRequest },
  page: Page,
): Promise<Found> {
  evaluationOf(context, search.request, 0);
  const names = [...context.snapshot.policies.keys()].filter((name) => name.startsWith(`${search.type}:`)).sort();
  const enumerate: Enumerate = async (after, count) => {
    const begin = names.findIndex((name) => name > after);
    return begin < 0 ? [] : names.slice(begin, begin + count);
  };
  const requestOf = (action: string): AuthorizationRequest => ({ ...search.request, action });
  return checked(services, context, page, services.clock.now(), { enumerate, requestOf });
}

type Candidates = { enumerate: Enumerate; requestOf: (candidate: string) => AuthorizationRequest };

async function checked(
  services: SearchServices & { chargeRate: ChargeRate },
  context: DecisionContext,
  { after, limit }: Page,
  now: number,
  { enumerate, requestOf }: Candidates,
): Promise<Found> {
  const started = services.clock.monotonic();
  const found: string[] = [];
  const undecided = new Map<Failure, number>();
  let position = after;
  let count = 0;
  let isMore = true;
  const isOver = () =>
    count >= limits.searchCandidatesMax || services.clock.monotonic() - started > limits.searchPageMsMax;
  while (isMore && found.length < limit && (count === 0 || !isOver())) {
    const room = Math.min(Math.max(limit - found.length, 32), 100, limits.searchCandidatesMax - count);
    const listed = await enumerate(position, room + 1); // one more, to know whether there are more
    const part = listed.slice(0, room);
    if (!services.chargeRate(part.length)) break;
    isMore = listed.length > room;
    const checks = await checkAll(services, context, part.map(requestOf), now);
    for (const [index, candidate] of part.entries()) {
      count++;
      position = candidate;
      const { allowed, undecided: why } = checks[index] as Checked;
      if (why !== undefined) undecided.set(why, (undecided.get(why) ?? 0) + 1);
      if (allowed) found.push(candidate);
      if (found.length < limit) continue;
      isMore ||= index < part.length - 1;
      break;
    }
  }
  const { tenant } = context.snapshot;
  const ms = services.clock.monotonic() - started;
  services.observe({ kind: 'searched', tenant, candidates: count, found: found.length, ms });
  return {
    ...{ found, candidates: count, undecided: [...undecided].map(([reason, of]) => ({ reason, count: of })) },
    ...(isMore ? { next: position } : {}),
  };
}
