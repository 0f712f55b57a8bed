/** C/consent-definitions/{name}/adoption: how far users have come to the newer versions, and who is left. */
import { type Static, Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { type Definition, definitionProblem, evaluateActive, isOlder } from '../definitions/index.ts';
import { type App, type RequestTenant, tenantOf } from '../http/fastify.ts';
import { recordReaders } from '../http/member-access.ts';
import { decodeCursor, encodeCursor, linkNext, PAGE_ITEMS, PageQuery } from '../http/paging.ts';
import { readRemaining } from './adoption-store.ts';
import type { ConsentServices } from './request-context.ts';

const url = '/tenants/:tenant/consent-definitions/:name';
const LIST = 'remaining consents';
const instant = Type.Optional(Type.String({ format: 'date-time' }));

const VersionView = Type.Object({
  version: Type.String(),
  active: Type.Boolean({ description: 'Whether users are asked for this version now, in any language.' }),
  users: Type.Array(Type.Object({ language: Type.String(), count: Type.Integer() }), {
    description:
      'How many users consented to the version, by the language of the document. They may have consented to a newer one since.',
  }),
  invited: Type.Integer({ description: 'How many users were invited away from the version.' }),
  endOfLife: Type.Optional(
    Type.Object({ startDate: Type.String(), endDate: Type.String() }, { description: 'Where the version has one.' }),
  ),
  graceEnds: Type.Optional(
    Type.Object({ first: Type.String(), last: Type.String() }, { description: 'Of the users that were invited.' }),
  ),
});

const UserView = Type.Object({
  userId: Type.String(),
  document: Type.Object({ version: Type.String(), language: Type.String() }),
  givenAt: Type.String(),
  invitedAt: instant,
  gracePeriodEnds: instant,
});

export function registerAdoptionRoutes(app: App, services: ConsentServices): void {
  app.route({
    method: 'GET',
    url: `${url}/adoption`,
    config: recordReaders,
    schema: {
      summary: 'Count how many users consented to each version of a definition',
      description: `Counting reads all consents of the definition: counts of ${limits.adoptionKeptUsersMin} users or more are kept for up to ${limits.adoptionKeptMs / 1000} seconds.`,
      params: Type.Object({ tenant: Type.String(), name: Type.String() }),
      response: {
        200: Type.Object({ countedAt: Type.String({ format: 'date-time' }), versions: Type.Array(VersionView) }),
      },
    },
    handler: async (request) => {
      const { tenant, name } = request.params;
      const definition = definitionOf(request, name);
      const { consents: counts, invited, countedAt } = await services.adoptions.of(tenant, name);
      const now = services.clock.now();
      return {
        countedAt: new Date(countedAt).toISOString(),
        versions: definition.versions.map((one): Static<typeof VersionView> => {
          const { version, endOfLife } = one;
          const away = invited.find((row) => row.version === version);
          const users = counts.filter((row) => row.version === version);
          const languages = new Set(one.documents.map(({ language }) => language));
          const text = (ms: number) => new Date(ms).toISOString();
          return {
            version,
            active: [...languages].some((language) => evaluateActive(definition, language, now)?.version === version),
            users: users.map((row) => ({ language: row.language, count: row.users })),
            invited: away?.invited ?? 0,
            ...(endOfLife && { endOfLife: { startDate: text(endOfLife.startDate), endDate: text(endOfLife.endDate) } }),
            ...(away?.first_ends && away.last_ends
              ? { graceEnds: { first: away.first_ends, last: away.last_ends } }
              : {}),
          };
        }),
      };
    },
  });
  registerRemaining(app, services);
}

function registerRemaining(app: App, services: ConsentServices): void {
  app.route({
    method: 'GET',
    url: `${url}/versions/:version/remaining`,
    config: recordReaders,
    schema: {
      summary: 'List the users who consented to a version, and to none that is newer',
      description: `By the time of the consent, oldest first. A page looks at ${limits.consentsLookedAtMax} consents at most: it may have fewer items than limit, or none, and a cursor.`,
      params: Type.Object({ tenant: Type.String(), name: Type.String(), version: Type.String() }),
      querystring: PageQuery,
      response: { 200: Type.Object({ users: Type.Array(UserView), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { tenant, name, version } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const definition = definitionOf(request, name);
      if (!definition.versions.some((one) => one.version === version))
        throw definitionProblem('consent_version_not_found');
      const newer = definition.versions.map((one) => one.version).filter((one) => isOlder(definition, version, one));
      const after = cursor === undefined ? undefined : decodeCursor(cursor, LIST, UUID);
      const about = { definition: name, version, newer };
      const rows = await services.database.read(tenant, (tx) => readRemaining(tx, tenant, about, { after, limit }));
      const remaining = rows.filter((row) => row.remains);
      const shown = remaining.slice(0, limit);
      const last = remaining.length > limit ? shown.at(-1) : rows.find((row) => !row.remains);
      const users = shown.map((row) => ({
        userId: row.user_id,
        document: { version: row.document, language: row.language },
        givenAt: row.given_at,
        ...(row.invited_at === null ? {} : { invitedAt: row.invited_at }),
        ...(row.grace_ends === null ? {} : { gracePeriodEnds: row.grace_ends }),
      }));
      if (last === undefined) return { users };
      const onward = encodeCursor(last.id, LIST);
      linkNext(reply, request.url, { limit, cursor: onward });
      return { users, cursor: onward };
    },
  });
}

/** @throws Problem consent_definition_not_found */
function definitionOf(request: { tenant: RequestTenant | null }, name: string): Definition {
  const definition = tenantOf(request).snapshot.definitions.get(name);
  if (definition === undefined) throw definitionProblem('consent_definition_not_found');
  return definition;
}
