/** M/actors/{type}/{id} and M/resources/{type}/{id}: written by back ends only, so that nobody raises his own attributes. */
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, plainJson, TenantParams } from '../http/fastify.ts';
import {
  backendReaders,
  backendWriters,
  type RelationshipRouteServices,
  readers,
  recordAuthorOf,
  ThingParams,
} from './governing.ts';
import { relationshipProblem } from './problems.ts';
import { ThingView } from './schema.ts';
import { attributesOfThing, deleteThing, putThing } from './things.ts';

export function registerThingRoutes(app: App, services: RelationshipRouteServices): void {
  registerMe(app, services);
  for (const kind of ['actor', 'resource'] as const) {
    const url = `/:tenant/${kind}s/:type/:id`;
    app.route({
      method: 'GET',
      url,
      config: backendReaders,
      schema: { summary: `Read ${kind}`, params: ThingParams, response: { 200: ThingView } },
      serializerCompiler: plainJson,
      handler: async (request) => {
        const { tenant, type, id } = request.params;
        const attributes = await attributesOfThing(services, tenant, kind, { type, id });
        if (attributes === undefined) throw relationshipProblem('thing_not_found');
        return { ...attributes, id, type };
      },
    });
    app.route({
      method: 'PUT',
      url,
      config: backendWriters,
      bodyLimit: limits.bodyBytesMax,
      schema: {
        summary: `Register ${kind}, or replace its attributes`,
        params: ThingParams,
        body: Type.Record(Type.String(), Type.Unknown(), { description: 'The attributes that its type declares.' }),
        response: { 200: ThingView },
      },
      serializerCompiler: plainJson,
      handler: async (request, reply) => {
        const { type, id } = request.params;
        const thing = { type, id };
        const { result, revision } = await putThing(services, recordAuthorOf(request), kind, thing, request.body);
        reply.header('accord-revision', revision);
        return { ...result, id, type };
      },
    });
    app.route({
      method: 'DELETE',
      url,
      config: backendWriters,
      schema: {
        summary: `Forget ${kind}, with its relationships both ways and its pending invitations`,
        params: ThingParams,
        response: { 204: Type.Null() },
      },
      handler: async (request, reply) => {
        const { type, id } = request.params;
        const { revision } = await deleteThing(services, recordAuthorOf(request), kind, { type, id });
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
      response: { 200: ThingView },
    },
    serializerCompiler: plainJson,
    handler: async (request) => {
      const { caller } = request;
      if (caller?.kind !== 'user') throw problem('forbidden', { detail: 'A back end is not an actor.' });
      const attributes = await attributesOfThing(services, caller.tenant, 'actor', caller.actor);
      return { ...attributes, ...caller.actor };
    },
  });
}
