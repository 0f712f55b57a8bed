/** AuthZEN's search endpoints (section 8): subjects, resources and actions that evaluation would permit. */
import type { FastifyRequest } from 'fastify';
import { type AuthorizationRequest, evaluationOf } from '../authz/index.ts';
import type { Caller } from '../core/auth/schema.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import { type App, type CountMore, TenantParams, tenantOf } from '../http/fastify.ts';
import { recordReaders } from '../http/member-access.ts';
import { type ChargeRate, type Found, type SearchServices, searchEntities, searchPolicies } from '../search/index.ts';
import { checkNames } from './misspelt.ts';
import { actionNameOf, actionOf, attributesOf, entityOf, requestOf, searchedOf } from './rules.ts';
import {
  ActionSearchRequest,
  ActionSearchResponse,
  EntitySearchResponse,
  type Page,
  ResourceSearchRequest,
  SubjectSearchRequest,
} from './schema.ts';
import { pageTokensOf } from './token.ts';

export type AuthzenSearchServices = SearchServices & {
  /** Seals the tokens of pages, with a key of their own: there are many of them. */
  pageTokens: Encrypter;
};

const backends = { access: { api: 'management', scope: 'authz:evaluate', users: false } } as const;
/** An end user about itself only. */
const callers = { access: { api: 'management', scope: 'authz:evaluate', users: true } } as const;

/** At /{tenant}/access/v1; members search at the same paths of the Config API, where what is found are ids: not for support. */
const places = [
  { prefix: '/:tenant/access/v1', of: (config: typeof backends | typeof callers) => config },
  { prefix: '/tenants/:tenant/access/v1', of: () => recordReaders },
] as const;
type Place = (typeof places)[number];

const searchesOfEntities = [
  {
    vary: 'subject',
    config: backends,
    summary: 'AuthZEN Subject Search: which subjects may perform an action',
    body: SubjectSearchRequest,
  },
  {
    vary: 'resource',
    config: callers,
    summary: 'AuthZEN Resource Search: on which resources a subject may perform an action',
    body: ResourceSearchRequest,
  },
] as const;

export function registerSearch(app: App, services: AuthzenSearchServices, countMore: CountMore): void {
  const search = searching(services, countMore);
  for (const place of places) {
    registerEntitySearches(app, services, search, place);
    registerActionSearch(app, services, search, place);
  }
}

function registerEntitySearches(
  app: App,
  services: AuthzenSearchServices,
  search: Search,
  { prefix, of }: Place,
): void {
  for (const { vary, config, summary, body } of searchesOfEntities) {
    app.route({
      method: 'POST',
      url: `${prefix}/search/${vary}`,
      config: of(config),
      bodyLimit: limits.bodyBytesMax,
      schema: { summary, params: TenantParams, body, response: { 200: EntitySearchResponse } },
      handler: async (request, reply) => {
        const { page, subject, action, resource, context } = request.body;
        const known = {
          subject: entityOf(subject),
          action: actionOf(action),
          resource: entityOf(resource),
          ...(context === undefined ? {} : { context }),
        };
        const question = { ...known, [vary]: searchedOf(request.body[vary]) };
        const { type } = request.body[vary];
        const asking = requestOf(question);
        const place = { list: `search/${vary}`, page, of: question };
        const { found, ...told } = await search(request, reply, place, (chargeRate, context, at) => {
          evaluationOf(context, asking, 0); // who may not ask is not told which names there are
          checkNames(context.snapshot, { vary, subject, resource, action });
          return searchEntities({ ...services, chargeRate }, context, { vary, type, request: asking }, at);
        });
        return { ...told, results: found.map((id) => ({ type, id })) };
      },
    });
  }
}

function registerActionSearch(app: App, services: AuthzenSearchServices, search: Search, { prefix, of }: Place): void {
  app.route({
    method: 'POST',
    url: `${prefix}/search/action`,
    config: of(callers),
    bodyLimit: limits.bodyBytesMax,
    schema: {
      summary: 'AuthZEN Action Search: which actions a subject may perform on a resource',
      params: TenantParams,
      body: ActionSearchRequest,
      response: { 200: ActionSearchResponse },
    },
    handler: (request, reply) => {
      const { page, subject, resource, context } = request.body;
      const asking: AuthorizationRequest = {
        subject: attributesOf(subject),
        resource: attributesOf(resource),
        ...(context === undefined ? {} : { context }),
      };
      const { type } = resource;
      return search(
        request,
        reply,
        { list: 'search/action', page, of: [entityOf(subject), entityOf(resource), context] },
        (chargeRate, context, at) => {
          evaluationOf(context, asking, 0);
          checkNames(context.snapshot, { vary: 'action', subject, resource });
          return searchPolicies({ ...services, chargeRate }, context, { type, request: asking }, at);
        },
      ).then(({ found, ...told }) => ({
        ...told,
        results: found.map((name) => ({ name: actionNameOf(type, name) })),
      }));
    },
  });
}

type Requested = Pick<FastifyRequest, 'tenant' | 'caller' | 'id' | 'span'> & { params: { tenant: string } };
type Reply = { header(name: string, value: string): unknown };
type Paged = {
  found: string[];
  page: { next_token: string; count: number };
  context?: { undecided: { reason: string; count?: number }[] };
};

type Search = ReturnType<typeof searching>;

type Find = (
  chargeRate: ChargeRate,
  context: Parameters<typeof searchEntities>[1],
  at: { after: string; limit: number },
) => Promise<Found>;

/** What the three have in common: who asks, where the page begins, what it counts as, where the next begins. */
function searching(services: AuthzenSearchServices, countMore: CountMore) {
  return async (
    request: Requested,
    reply: Reply,
    { list, page: asked, of }: { list: string; page: Page | undefined; of: unknown },
    find: Find,
  ): Promise<Paged> => {
    const { tenant } = request.params;
    const tokens = pageTokensOf(services.pageTokens, { tenant, list, search: of });
    const at = tokens.pageOf(asked);
    const { snapshot } = tenantOf(request);
    const chargeRate = chargeRateOf((count) => countMore(request as never, count));
    const context = { snapshot, caller: request.caller as Caller, requestId: request.id, span: request.span };
    const { found, next, undecided } = await find(chargeRate, context, { ...at, limit: Math.max(at.limit, 1) });
    reply.header('accord-revision', `c${snapshot.revision}`);
    // None are wanted, and there is one: its page begins where this one did.
    if (at.limit < found.length) return { found: [], page: { next_token: tokens.next(0, at.after), count: 0 } };
    const page = { next_token: tokens.next(at.limit, next), count: found.length };
    // An end user may not know how many there are.
    const told = undecided.map(({ reason, count }) => ({ reason, ...(context.caller.kind !== 'user' && { count }) }));
    return { found, page, ...(told.length > 0 && { context: { undecided: told } }) };
  };
}

/** Who is in debt gets nothing; a search that is begun ends its page when it gets there, by its own decisions or others'. */
function chargeRateOf(countMore: (count: number) => void): ChargeRate {
  let begun = false;
  return (decisions) => {
    const more = begun ? decisions : decisions - 1; // the access hook counted one
    if (more < 1) return true;
    try {
      countMore(more);
    } catch (error) {
      if (begun && error instanceof Problem && error.code === 'rate_limited') return false;
      throw error;
    }
    begun = true;
    return true;
  };
}
