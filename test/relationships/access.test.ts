/** Who may call the routes of types and relationships, as one table: what each route states as its access. */
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import type { App } from '../../server/http/fastify.ts';
import { registerRelationshipRoutes } from '../../server/relationships/index.ts';
import { registerTypeRoutes } from '../../server/types/index.ts';

const everyRole = 'security-admin config-editor config-viewer support';
const editors = 'security-admin config-editor';
const config = (list: string) => [
  [`GET /tenants/:tenant/${list}`, everyRole],
  [`GET /tenants/:tenant/${list}/:type`, everyRole],
  [`PUT /tenants/:tenant/${list}/:type`, editors],
  [`DELETE /tenants/:tenant/${list}/:type`, editors],
];
const entity = (kind: string) => [
  [`GET /:tenant/${kind}/:type`, 'relationships:read'],
  [`GET /:tenant/${kind}/:type/:id`, 'relationships:read'],
  [`PUT /:tenant/${kind}/:type/:id`, 'relationships:write'],
  [`DELETE /:tenant/${kind}/:type/:id`, 'relationships:write'],
];

/** Roles for the Config API; a scope for back ends, and `user` where the tenant's policies (or the handler) let users in. */
const table = [
  ...['actor-types', 'resource-types', 'relationship-types'].flatMap(config),
  ...['actors', 'resources'].flatMap(entity),
  ['GET /:tenant/actors/me', 'relationships:read user'],
  ['GET /:tenant/actors/:type/:id/relationships', 'relationships:read user'],
  ['GET /:tenant/resources/:type/:id/relationships', 'relationships:read user'],
  ['POST /:tenant/actors/:type/:id/relationships', 'relationships:write user'],
  ['DELETE /:tenant/actors/:type/:id/relationships/:relationshipType/:toType/:toId', 'relationships:write user'],
  ['DELETE /:tenant/relationships', 'relationships:write'],
  ['POST /:tenant/relationships/import', 'relationships:write'],
  ['GET /:tenant/relationships/imports/:importId', 'relationships:read'],
  ['GET /:tenant/relationships/export', 'relationships:read'],
  ['GET /tenants/:tenant/actors/:type/:id/relationships', 'security-admin config-editor support'],
  ['GET /tenants/:tenant/resources/:type/:id/relationships', 'security-admin config-editor support'],
  ['POST /tenants/:tenant/actors/:type/:id/relationships', 'security-admin'],
  ['DELETE /tenants/:tenant/actors/:type/:id/relationships/:relationshipType/:toType/:toId', 'security-admin'],
  ['POST /tenants/:tenant/relationships/import', 'security-admin'],
  ['GET /tenants/:tenant/relationships/imports/:importId', 'security-admin'],
  ['GET /tenants/:tenant/relationships/export', 'security-admin'],
];

test('every route states who may call it', async () => {
  const stated: string[][] = [];
  const app = Fastify() as unknown as App;
  app.addHook('onRoute', ({ method, url, config: about }) => {
    const access = about?.access;
    const who =
      access?.api === 'config'
        ? access.roles.join(' ')
        : access?.api === 'management'
          ? `${access.scope}${access.users ? ' user' : ''}`
          : 'anybody';
    if (method !== 'HEAD') stated.push([`${String(method)} ${url}`, who]);
  });
  registerTypeRoutes(app, {} as never);
  registerRelationshipRoutes(app, {} as never);
  expect(stated.sort()).toEqual(table.sort());
  await app.close();
});
