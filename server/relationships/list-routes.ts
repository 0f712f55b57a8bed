/**
 * The lists of relationships of one entity: bare arrays, as the specification shows. An actor's is complete when no limit
 * is sent, and written page by page where it is long; a resource's may be very wide and has pages always.
 */

import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { isText } from '../core/text.ts';
import type { App } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, linkNext, notACursor, PageQuery, WholeQuery } from '../http/paging.ts';
import { sendList } from '../http/streamed-list.ts';
import { pageOf } from './actions.ts';
import { EntityParams, type RelationshipRouteServices, readers, requireAllowed } from './authorization.ts';
import { relationshipProblem } from './problems.ts';
import { type Entity, FromEntry, type RelationshipRow, ToEntry } from './schema.ts';

const fromEntry = (row: RelationshipRow) => ({ relationshipType: row.name, to: { id: row.to_id, type: row.to_type } });
const toEntry = (row: RelationshipRow) => ({
  relationshipType: row.name,
  from: { id: row.from_id, type: row.from_type },
});

export function registerListRoutes(app: App, services: RelationshipRouteServices): void {
  app.route({
    method: 'GET',
    url: '/:tenant/actors/:type/:id/relationships',
    config: readers,
    schema: {
      summary: "List an actor's relationships; 404 when it has none",
      description:
        'Direct relationships only. Users are authorized by the policy actorType:relationships:list; its resource is the actor.',
      params: EntityParams,
      querystring: WholeQuery,
      response: { 200: Type.Array(FromEntry) },
    },
    handler: async (request, reply) => {
      const { tenant, type, id } = request.params;
      const { limit, cursor } = request.query;
      const actor = { type, id };
      await requireAllowed(services, request, { action: `${type}:relationships:list`, resource: actor });
      const after = cursor === undefined ? {} : { after: rowOf(cursor, actor, 'from') };
      const page = { ...after, limit: limit ?? limits.exportPageItemsMax };
      const { rows, more } = await pageOf(services, tenant, 'from', actor, page);
      if (rows.length === 0 && cursor === undefined) throw relationshipProblem('no_relationships');
      if (limit === undefined && more) {
        const next = (last: RelationshipRow) =>
          pageOf(services, tenant, 'from', actor, { after: last, limit: limits.exportPageItemsMax });
        return sendList(reply, ['[', ']'], { rows, next, view: fromEntry }) as never;
      }
      if (more) linkNext(reply, request.url, { limit: page.limit, cursor: cursorOf(rows.at(-1), 'from') });
      return rows.map(fromEntry);
    },
  });
  app.route({
    method: 'GET',
    url: '/:tenant/resources/:type/:id/relationships',
    config: readers,
    schema: {
      summary: 'List the relationships that lead to a resource',
      description: `Direct relationships only, ${limits.pageItemsMax} per page unless limit is less; Link rel="next" points to the next page. Users are authorized by the policy resourceType:relationships:list.`,
      params: EntityParams,
      querystring: PageQuery,
      response: { 200: Type.Array(ToEntry) },
    },
    handler: async (request, reply) => {
      const { tenant, type, id } = request.params;
      const { limit = limits.pageItemsMax, cursor } = request.query;
      const resource = { type, id };
      await requireAllowed(services, request, { action: `${type}:relationships:list`, resource });
      const after = cursor === undefined ? {} : { after: rowOf(cursor, resource, 'to') };
      const { rows, more } = await pageOf(services, tenant, 'to', resource, { ...after, limit });
      if (more) linkNext(reply, request.url, { limit, cursor: cursorOf(rows.at(-1), 'to') });
      return rows.map(toEntry);
    },
  });
}

export function cursorOf(last: RelationshipRow | undefined, side: 'from' | 'to'): string {
  if (last === undefined) throw new Error('a page that has a next one has a last row');
  const far = side === 'from' ? [last.to_type, last.to_id] : [last.from_type, last.from_id];
  return encodeCursor(JSON.stringify([last.name, ...far]), `relationships ${side}`);
}

/** The row that a page of the entity's list ended with. @throws Problem invalid_request */
export function rowOf(cursor: string, { type, id }: Entity, side: 'from' | 'to'): RelationshipRow {
  const position = decodeCursor(cursor, `relationships ${side}`, /^\["[^\0]*"\]$/);
  let parts: unknown;
  try {
    parts = JSON.parse(position);
  } catch {
    throw notACursor();
  }
  if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string' && isText(part)))
    throw notACursor();
  const [name, farType, farId] = parts as [string, string, string];
  const near = side === 'from' ? { from_type: type, from_id: id } : { to_type: type, to_id: id };
  const far = side === 'from' ? { to_type: farType, to_id: farId } : { from_type: farType, from_id: farId };
  return { ...near, ...far, name, expires_at: null } as RelationshipRow;
}
