/** The Config API of clients. Only a security-admin may write them, because a client may be granted every right in the tenant. */
import { Type } from 'typebox';
import { shownName } from '../core/auth/mask.ts';
import { type Role, roles } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { describeOwner } from '../core/ownership.ts';
import { optionalBody } from '../http/body.ts';
import {
  answerWritten,
  type ConfigServing,
  Empty,
  etagOf,
  IfMatch,
  preconditionsOf,
  WriteHeaders,
  writerOf,
} from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { decodeCursor, NamesPage, pageOfNames, WholeQuery } from '../http/paging.ts';
import { type ClientServices, deleteClient, putClient } from './actions.ts';
import { requireClient } from './found.ts';
import { checkClientBody, isLive } from './rules.ts';
import { ClientBody, type ClientRow, ClientView, NewSecretView, type SecretRow } from './schema.ts';
import { addSecret, deleteSecret } from './secrets.ts';
import { loadClients, loadSecrets } from './store.ts';

const ClientParams = Type.Object({ tenant: Type.String(), id: Type.String() });
const SecretParams = Type.Object({ tenant: Type.String(), id: Type.String(), secretId: Type.String() });

const readers = { access: { api: 'config', roles } } as const;
const writers = { access: { api: 'config', roles: ['security-admin'] } } as const;

type ClientRouteServices = ClientServices & ConfigServing;

export function registerClientRoutes(app: App, services: ClientRouteServices): void {
  registerReading(app, services);
  registerWriting(app, services);
  registerSecrets(app, services);
}

function registerReading(app: App, services: ClientRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/clients',
    config: readers,
    schema: {
      summary: 'List clients',
      params: TenantParams,
      querystring: WholeQuery,
      response: { 200: NamesPage },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit, cursor } = request.query;
      const after = cursor === undefined ? '' : decodeCursor(cursor, 'clients');
      const rows = await services.database.read(tenant, (tx) => loadClients(tx, tenant));
      const ids = rows.map((row) => row.client_id).filter((id) => id > after);
      return pageOfNames(reply, ids, { self: `/tenants/${tenant}/clients`, list: 'clients', limit });
    },
  });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/clients/:id',
    config: readers,
    schema: { summary: 'Read a client', params: ClientParams, response: { 200: ClientView } },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const [row, secrets] = await services.database.read(tenant, (tx) =>
        Promise.all([requireClient(tx, tenant, id), loadSecrets(tx, tenant, id)]),
      );
      reply.header('etag', etagOf(row.revision));
      const now = services.clock.now();
      return view(row, secrets.filter(isLive(now)), memberOf(request).role);
    },
  });
}

function registerWriting(app: App, services: ClientRouteServices): void {
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/clients/:id',
    config: writers,
    bodyLimit: limits.configBodyBytesMax,
    schema: {
      summary: 'Register or replace a client',
      params: ClientParams,
      headers: WriteHeaders,
      body: ClientBody,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const spec = checkClientBody(tenant, id, request.body);
      const written = await putClient(services, writerOf(request), tenant, spec, preconditionsOf(request.headers));
      return answerWritten(reply, services, tenant, { revision: written.revision, object: written.result.revision });
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/clients/:id',
    config: writers,
    schema: {
      summary: 'Remove a client, and refuse its tokens',
      params: ClientParams,
      headers: IfMatch,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const written = await deleteClient(services, writerOf(request), tenant, id, preconditionsOf(request.headers));
      return answerWritten(reply, services, tenant, written);
    },
  });
}

function registerSecrets(app: App, services: ClientRouteServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/clients/:id/secrets',
    config: { ...writers, idempotency: { secrets: ['clientSecret'] } },
    bodyLimit: limits.strayBodyBytesMax,
    schema: {
      summary: 'Generate a secret, which is shown once, beside the one that the client has',
      params: ClientParams,
      body: Empty,
      response: { 201: NewSecretView },
    },
    onRequest: optionalBody,
    handler: async (request, reply) => {
      const { tenant, id: clientId } = request.params;
      const written = await addSecret(services, writerOf(request), tenant, clientId);
      await answerWritten(reply, services, tenant, written);
      const { id, secret } = written.result;
      // A secret has no page of its own: the client shows which there are.
      reply.header('location', `/tenants/${tenant}/clients/${clientId}`);
      return reply.status(201).header('cache-control', 'no-store').send({ id, clientId, clientSecret: secret });
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/clients/:id/secrets/:secretId',
    config: writers,
    schema: { summary: 'End a secret of a client', params: SecretParams, response: { 200: Empty } },
    handler: async (request, reply) => {
      const { tenant, id: clientId, secretId: id } = request.params;
      const written = await deleteSecret(services, writerOf(request), tenant, { clientId, id });
      return answerWritten(reply, services, tenant, written);
    },
  });
}

function view(row: ClientRow, secrets: readonly SecretRow[], role: Role) {
  const { secretRef: _secretRef, generateSecret: _generateSecret, ...spec } = row.spec;
  return {
    ...spec,
    secrets: secrets.map((one) => ({
      id: one.id,
      createdAt: one.created_at,
      createdBy: shownName(role, one.created_by),
      ...(one.expires_at === null ? {} : { expiresAt: one.expires_at }),
    })),
    revision: row.revision,
    updatedAt: row.updated_at,
    updatedBy: shownName(role, row.updated_by),
    managedBy: describeOwner(row.owner),
  };
}
