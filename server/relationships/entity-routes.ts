/** /{tenant}/actors/{type}/{id} and /{tenant}/resources/{type}/{id}: written by back ends only, so that users cannot change their own attributes. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, plainJson, TenantParams } from '../http/fastify.ts';
import {
  backendReaders,
  backendWriters,
  EntityParams,
  type RelationshipRouteServices,
  readers,
  recordAuthorOf,
} from './authorization.ts';
import { attributesOfEntity, deleteEntity, putEntity } from './entities.ts';
import { relationshipProblem } from './problems.ts';
import { EntityView } from './schema.ts';

export function registerEntityRoutes(app: App, services: RelationshipRouteServices): void {
  registerMe(app, services);
  for (const kind of ['actor', 'resource'] as const) {
    const what = kind === 'actor' ? 'an actor' : 'a resource';
    const url = `/:tenant/${kind}s/:type/:id`;
    app.route({
      method: 'GET',
      url,
      config: backendReaders,
      schema: { summary: `Read ${what}`, params: EntityParams, response: { 200: EntityView } },
      serializerCompiler: plainJson,
      handler: async (request) => {
        const { tenant, type, id } = request.params;
        const attributes = await attributesOfEntity(services, tenant, kind, { type, id });
        if (attributes === undefined) throw relationshipProblem('entity_not_found');
        return { ...attributes, id, type };
      },
    });
    app.route({
      method: 'PUT',
      url,
      config: backendWriters,
      bodyLimit: limits.bodyBytesMax,
      schema: {
        summary: `Create ${what}, or replace its attributes`,
        params: EntityParams,
        body: Type.Record(Type.String(), Type.Unknown(), { description: 'The attributes that its type declares.' }),
        response: { 200: EntityView },
      },
      serializerCompiler: plainJson,
      handler: async (request, reply) => {
        const { type, id } = request.params;
        const entity = { type, id };
        const { result, revision } = await putEntity(services, recordAuthorOf(request), kind, entity, request.body);
        reply.header('accord-revision', revision);
        return { ...result, id, type };
      },
    });
    app.route({
      method: 'DELETE',
      url,
      config: backendWriters,
      schema: {
        summary: `Delete ${what} with its relationships in both directions and its pending invitations`,
        params: EntityParams,
        response: { 204: Type.Null() },
      },
      handler: async (request, reply) => {
        const { type, id } = request.params;
        const { revision } = await deleteEntity(services, recordAuthorOf(request), kind, { type, id });
        return reply.status(204).header('accord-revision', revision).send(null);
      },
    });
  }
}

function registerMe(app: App, services: RelationshipRouteServices): void {
  app.route({
    method: 'GET',
    url: '/:tenant/actors/me',
    config: readers,
    schema: {
      summary: "Read the caller's own actor",
      params: TenantParams,
      response: { 200: EntityView },
    },
    serializerCompiler: plainJson,
    handler: async (request) => {
      const { caller } = request;
      if (caller?.kind !== 'user') throw problem('forbidden', { detail: 'A back end is not an actor.' });
      const attributes = await attributesOfEntity(services, caller.tenant, 'actor', caller.actor);
      return { ...attributes, ...caller.actor };
    },
  });
}
