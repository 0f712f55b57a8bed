/** C/people: finding an actor, what is known of it, and its time line. */
import { Type } from 'typebox';
import { maskOfEmail } from '../core/auth/mask.ts';
import { instantMs } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, memberOf, TenantParams, tenantOf } from '../http/fastify.ts';
import { recordViewers, refuseMaskedSearch } from '../http/member-access.ts';
import { decodeCursor, encodeCursor, notACursor, PAGE_ITEMS, pageOfRows, pageQuery } from '../http/paging.ts';
import { findByEmail, findById, type PeopleServices, readPerson, readTimelineOf } from './actions.ts';
import { withoutErasedDecisions } from './erased.ts';
import { registerLookup } from './lookup-routes.ts';
import {
  FoundPerson,
  ItemView,
  PersonView,
  type Place,
  type TimelineKind,
  timelineKinds,
  truncatedField,
} from './schema.ts';
import { itemView } from './view.ts';

const PersonParams = Type.Object({ tenant: Type.String(), type: Type.String(), id: Type.String() });
const INSTANT = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`;
const PLACE = new RegExp(`^${INSTANT} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} ${INSTANT}$`);
const TIMELINE = 'timeline';
const PEOPLE = 'people';

export function registerPeopleRoutes(app: App, services: PeopleServices): void {
  registerSearch(app, services);
  registerPerson(app, services);
  registerTimeline(app, services);
  registerLookup(app, services);
}

type Request = {
  tenant: Parameters<typeof tenantOf>[0]['tenant'];
  caller: Parameters<typeof memberOf>[0]['caller'];
  id: string;
};

function askingOf(request: Request) {
  const { defaultActorType: defaultType } = tenantOf(request).snapshot.spec.tokenMapping;
  return { member: memberOf(request), requestId: request.id, defaultType };
}

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: limits.entityIdBytesMax, description }));

function registerSearch(app: App, services: PeopleServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/people',
    config: recordViewers,
    schema: {
      summary: 'Find actors by id, by the beginning of the id, or by a mail address',
      description: `An address is compared as a whole: with those of accounts of the tenant's own issuer, and with those of invitations that were accepted, of which the newest ${limits.personRecordsMax} are looked at, and at most ${limits.pageItemsMax} actors are answered. Support finds an id that it knows, and nothing else.`,
      params: TenantParams,
      querystring: Type.Object(
        {
          ...pageQuery,
          type: text("The type of the actors. Default: the tenant's default actor type."),
          id: text('Exactly this id.'),
          idPrefix: text('Ids that begin with this text.'),
          email: text('A mail address.'),
        },
        { additionalProperties: false },
      ),
      response: { 200: Type.Object({ people: Type.Array(FoundPerson), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { limit = PAGE_ITEMS, cursor, id, idPrefix, email } = request.query;
      const asking = askingOf(request);
      const { type = asking.defaultType } = request.query;
      refuseMaskedSearch(asking.member.role, { idPrefix, email });
      if ([id, idPrefix, email].filter((one) => one !== undefined).length !== 1) {
        const detail = 'Exactly one of id, idPrefix and email is required.';
        throw problem('invalid_request', { detail, errors: [{ pointer: '/query', detail }] });
      }
      if (email !== undefined) return { people: await findByEmail(services, asking, email) };
      if (id !== undefined) return { people: await findById(services, asking, { type, id }) };
      const after = cursor === undefined ? '' : decodeCursor(cursor, PEOPLE);
      const search = { type, idPrefix: idPrefix as string, after, limit };
      const found = await findById(services, asking, search);
      const { page, onward } = pageOfRows({ request, reply }, found, limit, (last) => encodeCursor(last.id, PEOPLE));
      return { people: page, ...onward };
    },
  });
}

function registerPerson(app: App, services: PeopleServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/people/:type/:id',
    config: recordViewers,
    schema: {
      summary: 'Read what is known of an actor, and when it was first and last seen',
      description: 'An actor of which nothing is known has neither. Where support reads it, the audit names the actor.',
      params: PersonParams,
      response: { 200: PersonView },
    },
    handler: async (request) => {
      const { type, id } = request.params;
      const asking = askingOf(request);
      const { row, truncated } = await readPerson(services, asking, { type, id });
      const masked = asking.member.role === 'support';
      return {
        type,
        id,
        ...(row.display_name === null || masked ? {} : { displayName: row.display_name }),
        ...(row.attributes === null || masked ? {} : { attributes: row.attributes }),
        ...(row.email === null ? {} : { account: { email: masked ? maskOfEmail : row.email } }),
        ...(row.first_seen === null ? {} : { firstSeen: row.first_seen }),
        ...(row.last_seen === null ? {} : { lastSeen: row.last_seen }),
        ...(truncated && { truncated }),
      };
    },
  });
}

function registerTimeline(app: App, services: PeopleServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/people/:type/:id/timeline',
    config: recordViewers,
    schema: {
      summary: 'Read everything that is recorded about an actor, newest first',
      description: `Relationships that there are, invitations, entries of the ledger, decisions, mails, and entries of the audit, among them the relationships that were ended. Of relationships ${limits.personRecordsMax} of each direction are looked at; \`truncated\` says where there are more. Support sees no others than the actor. Where support reads it, the audit names the actor.`,
      params: PersonParams,
      querystring: Type.Object(
        {
          ...pageQuery,
          kinds: Type.Optional(
            Type.String({
              maxLength: 128,
              description: `Separated by commas: ${timelineKinds.join(', ')}. Default: all.`,
            }),
          ),
        },
        { additionalProperties: false },
      ),
      response: {
        200: Type.Object({ items: Type.Array(ItemView), cursor: Type.Optional(Type.String()), ...truncatedField }),
      },
    },
    handler: async (request, reply) => {
      const { type, id } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const asking = askingOf(request);
      const before = cursor === undefined ? {} : { before: placeOf(cursor) };
      const page = { kinds: kindsOf(request.query.kinds), ...before, limit: limit + 1 };
      const { rows, asOf, truncated } = await readTimelineOf(services, asking, { type, id }, page);
      const { page: shown, onward } = pageOfRows({ request, reply }, rows, limit, (last) =>
        encodeCursor(`${last.at} ${last.id} ${asOf}`, TIMELINE),
      );
      const { attributes: types } = tenantOf(request).snapshot.types;
      const reading = { role: asking.member.role, person: { type, id }, types };
      const kept = await withoutErasedDecisions(services, request.params.tenant, shown);
      return { items: kept.map((row) => itemView(row, reading)), ...onward, ...(truncated && { truncated }) };
    },
  });
}

/** @throws Problem invalid_request */
function kindsOf(said: string | undefined): ReadonlySet<TimelineKind> {
  const kinds = said === undefined ? [...timelineKinds] : said.split(',');
  const unknown = kinds.find((one) => !(timelineKinds as readonly string[]).includes(one));
  if (unknown === undefined) return new Set(kinds as TimelineKind[]);
  const detail = `There is no kind ${JSON.stringify(unknown)}; there are ${timelineKinds.join(', ')}.`;
  throw problem('invalid_request', { detail, errors: [{ pointer: '/query/kinds', detail }] });
}

/** @throws Problem invalid_request */
function placeOf(cursor: string): Place {
  const [at = '', id = '', asOf = ''] = decodeCursor(cursor, TIMELINE, PLACE).split(' ');
  if (instantMs(at) === undefined || instantMs(asOf) === undefined) throw notACursor();
  return { at, id, asOf };
}
