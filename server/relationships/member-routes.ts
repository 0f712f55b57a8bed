/** Relationships for members, in the Config API: what the Management API does for back ends, by role. */
import { type Static, Type } from 'typebox';
import { shownId } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { Empty } from '../http/config-api.ts';
import { type App, memberOf } from '../http/fastify.ts';
import { recordViewers, recordWriters } from '../http/member-access.ts';
import { hideCursor, PAGE_ITEMS, PageQuery, pageOfRows, revealCursor } from '../http/paging.ts';
import { write } from '../writes/index.ts';
import { createRelationship, deleteRelationship, pageOf, relationshipOf } from './actions.ts';
import { EntityParams, type RelationshipRouteServices, recordAuthorOf } from './authorization.ts';
import { cursorOf, rowOf } from './list-routes.ts';
import { checkEntity } from './rules.ts';
import { Entity, RelationshipBody, type RelationshipRow } from './schema.ts';

const expiresAt = Type.Optional(Type.String({ format: 'date-time' }));
const Listed = Type.Object({
  relationshipType: Type.String(),
  from: Type.Optional(Entity),
  to: Type.Optional(Entity),
  expiresAt,
});
const ListedPage = Type.Object({ relationships: Type.Array(Listed), cursor: Type.Optional(Type.String()) });

const lists = [
  { side: 'from', url: '/tenants/:tenant/actors/:type/:id/relationships', summary: "List an actor's relationships" },
  {
    side: 'to',
    url: '/tenants/:tenant/resources/:type/:id/relationships',
    summary: 'List the relationships that lead to a resource',
  },
] as const;

export function registerMemberRoutes(app: App, services: RelationshipRouteServices): void {
  for (const one of lists) registerList(app, services, one);
  registerChanges(app, services);
}

function registerList(
  app: App,
  services: RelationshipRouteServices,
  { side, url, summary }: (typeof lists)[number],
): void {
  app.route({
    method: 'GET',
    url,
    config: recordViewers,
    schema: {
      summary,
      description: 'Direct relationships only. Support sees no ids of the other side.',
      params: EntityParams,
      querystring: PageQuery,
      response: { 200: ListedPage },
    },
    handler: async (request, reply) => {
      const { tenant, type, id } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const { role } = memberOf(request);
      const entity = { type, id };
      checkEntity(entity, '/params');
      const cursors = cursorsOf(services, role, [tenant, side, type, id]);
      const after = cursor === undefined ? {} : { after: rowOf(cursors.read(cursor), entity, side) };
      await recordUse(services, request, side, entity);
      const { rows, more } = await pageOf(services, tenant, side, entity, { ...after, limit });
      const shown = ({
        name,
        to_type,
        to_id,
        from_type,
        from_id,
        expires_at,
      }: RelationshipRow): Static<typeof Listed> => {
        const other =
          side === 'from'
            ? { to: { type: to_type, id: shownId(role, to_id) } }
            : { from: { type: from_type, id: shownId(role, from_id) } };
        return { relationshipType: name, ...other, ...(expires_at === null ? {} : { expiresAt: expires_at }) };
      };
      const last = rows.at(-1);
      const all = more && last !== undefined ? [...rows, last] : rows;
      const { page, onward } = pageOfRows({ request, reply }, all, limit, (row) => cursors.write(cursorOf(row, side)));
      return { relationships: page.map(shown), ...onward };
    },
  });
}

/** A cursor holds the id of the other side, which support sees nowhere and may not search by. */
function cursorsOf({ encrypter }: RelationshipRouteServices, role: Role, list: readonly string[]) {
  if (role !== 'support') return { read: (cursor: string) => cursor, write: (cursor: string) => cursor };
  const place = ['relationships', ...list];
  return {
    read: (hidden: string) => revealCursor(encrypter, hidden, place),
    write: (cursor: string) => hideCursor(encrypter, cursor, place),
  };
}

/** The audit of a request says which route support used; here it says about whom, too. */
async function recordUse(
  services: RelationshipRouteServices,
  request: Parameters<typeof recordAuthorOf>[0] & Parameters<typeof memberOf>[0],
  side: 'from' | 'to',
  { type, id }: { type: string; id: string },
): Promise<void> {
  if (memberOf(request).role !== 'support') return;
  await write(services, recordAuthorOf(request), { locks: 'records' }, async (unit) => {
    unit.audit({ action: 'read', kind: side === 'from' ? 'actor' : 'resource', name: `${type}/${id}` });
  });
}

function registerChanges(app: App, services: RelationshipRouteServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/actors/:type/:id/relationships',
    config: { ...recordWriters, idempotency: {} },
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Create a relationship as a member, or change the expiry of an existing one',
      params: EntityParams,
      body: RelationshipBody,
      response: { 200: RelationshipBody, 201: RelationshipBody },
    },
    handler: async (request, reply) => {
      const { tenant, type, id } = request.params;
      const relationship = relationshipOf({ type, id }, request.body, services.clock.now());
      const { relationshipType, to, expiresAt: until } = relationship;
      const written = await createRelationship(services, recordAuthorOf(request), relationship);
      const place = ['tenants', tenant, 'actors', type, id, 'relationships', relationshipType, to.type, to.id];
      reply.header('accord-revision', written.revision);
      reply.header('location', `/${place.map(encodeURIComponent).join('/')}`);
      reply.status(written.result === 'created' ? 201 : 200);
      return { relationshipType, to, ...(until === undefined ? {} : { expiresAt: until }) };
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/actors/:type/:id/relationships/:relationshipType/:toType/:toId',
    config: recordWriters,
    schema: {
      summary: 'End a relationship as a member',
      params: Type.Object({
        ...EntityParams.properties,
        relationshipType: Type.String(),
        toType: Type.String(),
        toId: Type.String(),
      }),
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { type, id, relationshipType, toType, toId } = request.params;
      const relationship = { from: { type, id }, relationshipType, to: { type: toType, id: toId } };
      const { revision } = await deleteRelationship(services, recordAuthorOf(request), relationship);
      reply.header('accord-revision', revision);
      return {};
    },
  });
}
