/** /{tenant}/actors, /{tenant}/resources and their relationships. Users are authorized by the tenant's own policies. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { createRelationship, deleteRelationship, relationshipOf } from './actions.ts';
import {
  EntityParams,
  type RelationshipRouteServices,
  recordAuthorOf,
  requireAllowed,
  writers,
} from './authorization.ts';
import { registerBulkRoutes } from './bulk-routes.ts';
import { registerEntityLists } from './entity-list-routes.ts';
import { registerEntityRoutes } from './entity-routes.ts';
import { registerListRoutes } from './list-routes.ts';
import { registerMemberRoutes } from './member-routes.ts';
import { RelationshipBody } from './schema.ts';

export function registerRelationshipRoutes(app: App, services: RelationshipRouteServices): void {
  registerEntityRoutes(app, services);
  registerEntityLists(app, services);
  registerListRoutes(app, services);
  registerChanges(app, services);
  registerMemberRoutes(app, services);
  registerBulkRoutes(app, services);
}

function registerChanges(app: App, services: RelationshipRouteServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/actors/:type/:id/relationships',
    config: { ...writers, idempotency: {} },
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Create a relationship, or change the expiry of an existing one',
      description: 'Users are authorized by the policy From:relationship:To:create; its resource is the target.',
      params: EntityParams,
      body: RelationshipBody,
      response: { 200: RelationshipBody, 201: RelationshipBody },
    },
    handler: async (request, reply) => {
      const { tenant, type, id } = request.params;
      const from = { type, id };
      const relationship = relationshipOf(from, request.body, services.clock.now());
      const { relationshipType, to, expiresAt } = relationship;
      const action = `${type}:${relationshipType}:${to.type}:create`;
      await requireAllowed(services, request, { action, resource: to, relationship: { from, relationshipType, to } });
      const written = await createRelationship(services, recordAuthorOf(request), relationship);
      const place = [tenant, 'actors', type, id, 'relationships', relationshipType, to.type, to.id];
      reply.header('accord-revision', written.revision);
      reply.header('location', `/${place.map(encodeURIComponent).join('/')}`);
      reply.status(written.result === 'created' ? 201 : 200);
      return { relationshipType, to, ...(expiresAt === undefined ? {} : { expiresAt }) };
    },
  });
  app.route({
    method: 'DELETE',
    url: '/:tenant/actors/:type/:id/relationships/:relationshipType/:toType/:toId',
    config: writers,
    schema: {
      summary: 'Delete a relationship',
      description: 'Users are authorized by the policy From:relationship:To:delete; its resource is the target.',
      params: Type.Object({
        ...EntityParams.properties,
        relationshipType: Type.String(),
        toType: Type.String(),
        toId: Type.String(),
      }),
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const { type, id, relationshipType, toType, toId } = request.params;
      const relationship = { from: { type, id }, relationshipType, to: { type: toType, id: toId } };
      const action = `${type}:${relationshipType}:${toType}:delete`;
      await requireAllowed(services, request, { action, resource: relationship.to, relationship });
      const { revision } = await deleteRelationship(services, recordAuthorOf(request), relationship);
      return reply.status(204).header('accord-revision', revision).send(null);
    },
  });
}
