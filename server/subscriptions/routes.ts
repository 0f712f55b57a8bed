/** The Config API of subscriptions. Only a security-admin may write them: an endpoint gets what other members see masked. */
import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
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
import {
  deleteSubscription,
  putSubscription,
  requireSubscription,
  rotateSecret,
  type SubscriptionServices,
  warningsOf,
} from './actions.ts';
import type { Warning } from './filters.ts';
import { type LaneStatus, laneStatus } from './lanes/index.ts';
import { checkSubscriptionBody } from './rules.ts';
import {
  ChangedView,
  NewSubscriptionView,
  RotatedView,
  SubscriptionBody,
  type SubscriptionRow,
  type SubscriptionSecrets,
  SubscriptionView,
} from './schema.ts';
import { decryptSecrets, liveSecrets } from './secrets.ts';
import { loadSubscriptions } from './store.ts';

const Params = Type.Object({ tenant: Type.String(), id: Type.String() });

const readers = { access: { api: 'config', roles } } as const;
const writers = { access: { api: 'config', roles: ['security-admin'] } } as const;
const secrets = { idempotency: { secrets: ['signingSecret'] } };

const LIST = '/tenants/:tenant/event-stream/subscriptions';
const ONE = `${LIST}/:id` as const;

type RouteServices = SubscriptionServices & ConfigServing;

export function registerSubscriptionRoutes(app: App, services: RouteServices): void {
  registerReading(app, services);
  registerMaking(app, services);
  registerWriting(app, services);
}

const pathOf = (tenant: string, id = '') => `/tenants/${tenant}/event-stream/subscriptions${id && `/${id}`}`;

function registerReading(app: App, services: RouteServices): void {
  app.route({
    method: 'GET',
    url: LIST,
    config: readers,
    schema: {
      summary: 'List event subscriptions',
      params: TenantParams,
      querystring: WholeQuery,
      response: { 200: NamesPage },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit, cursor } = request.query;
      const after = cursor === undefined ? '' : decodeCursor(cursor, 'subscriptions');
      const rows = await services.database.read(tenant, (tx) => loadSubscriptions(tx, tenant));
      const ids = rows.map(({ id }) => id).filter((id) => id > after);
      return pageOfNames(reply, ids, { self: pathOf(tenant), list: 'subscriptions', limit });
    },
  });
  app.route({
    method: 'GET',
    url: ONE,
    config: readers,
    schema: { summary: 'Read an event subscription', params: Params, response: { 200: SubscriptionView } },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const [row, delivery, warnings] = await services.database.tenantSnapshot(tenant, async (tx) => {
        const row = await requireSubscription(tx, tenant, id);
        const delivery = await laneStatus(tx, tenant, { id, isPaused: row.spec.paused });
        return [row, delivery, await warningsOf(services, tx, tenant, row.spec)] as const;
      });
      reply.header('etag', etagOf(row.revision));
      const stored = decryptSecrets(services.encrypter, row);
      const shown = view(row, liveSecrets(stored, services.clock.now()), memberOf(request).role);
      return { ...shown, delivery: delivery as LaneStatus, ...someOf(warnings) };
    },
  });
}

function registerMaking(app: App, services: RouteServices): void {
  app.route({
    method: 'POST',
    url: LIST,
    config: { ...writers, ...secrets },
    bodyLimit: limits.configBodyBytesMax,
    schema: {
      summary: 'Make an event subscription, and show its signing secret once',
      description: 'It begins with the next event of the tenant.',
      params: TenantParams,
      body: SubscriptionBody,
      response: { 201: NewSubscriptionView },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const id = randomUUID();
      const { spec, auth } = checkSubscriptionBody(tenant, id, request.body);
      const written = await putSubscription(services, writerOf(request), tenant, id, spec, { secrets: { auth } });
      await answerWritten(reply, services, tenant, { revision: written.revision, object: written.result.revision });
      return answerMade(reply, tenant, id, written.result);
    },
  });
  app.route({
    method: 'POST',
    url: `${ONE}/secret/rotate`,
    config: { ...writers, ...secrets },
    bodyLimit: limits.strayBodyBytesMax,
    schema: {
      summary: 'Generate another signing secret, which is shown once; the one before is valid for another 24 hours',
      params: Params,
      body: Empty,
      response: { 200: RotatedView },
    },
    onRequest: optionalBody,
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const written = await rotateSecret(services, writerOf(request), tenant, id);
      await answerWritten(reply, services, tenant, { revision: written.revision, object: written.revision });
      reply.header('cache-control', 'no-store');
      return { id, ...written.result };
    },
  });
}

const someOf = (warnings: readonly Warning[]) => (warnings.length === 0 ? {} : { warnings: [...warnings] });

type Made = { signingSecret?: string; warnings: readonly Warning[] };

function answerMade(reply: FastifyReply, tenant: string, id: string, { signingSecret = '', warnings }: Made) {
  reply.header('location', pathOf(tenant, id)).header('cache-control', 'no-store');
  return reply.status(201).send({ id, signingSecret, ...someOf(warnings) });
}

function registerWriting(app: App, services: RouteServices): void {
  app.route({
    method: 'PUT',
    url: ONE,
    config: { ...writers, ...secrets },
    bodyLimit: limits.configBodyBytesMax,
    schema: {
      summary: 'Make an event subscription of this name, or replace it',
      params: Params,
      headers: WriteHeaders,
      body: SubscriptionBody,
      response: { 200: ChangedView, 201: NewSubscriptionView },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const { spec, auth } = checkSubscriptionBody(tenant, id, request.body);
      const options = { ...preconditionsOf(request.headers), secrets: { auth } };
      const written = await putSubscription(services, writerOf(request), tenant, id, spec, options);
      const { revision: object, signingSecret, warnings } = written.result;
      await answerWritten(reply, services, tenant, { revision: written.revision, object });
      return signingSecret === undefined ? someOf(warnings) : answerMade(reply, tenant, id, written.result);
    },
  });
  app.route({
    method: 'DELETE',
    url: ONE,
    config: writers,
    schema: {
      summary: 'Remove an event subscription, and send nothing more to its endpoint',
      params: Params,
      headers: IfMatch,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const written = await deleteSubscription(
        services,
        writerOf(request),
        tenant,
        id,
        preconditionsOf(request.headers),
      );
      return answerWritten(reply, services, tenant, written);
    },
  });
}

function view(row: SubscriptionRow, signing: SubscriptionSecrets['signing'], role: Role) {
  const { secretRef: _secretRef, generateSecret: _generateSecret, paused, auth, ...spec } = row.spec;
  const { secretRef: _authSecretRef, ...shown } = auth ?? { type: 'none' as const };
  return {
    id: row.id,
    ...spec,
    ...{ auth: shown, enabled: !paused },
    signingSecrets: signing.map(({ createdAt, expiresAt }) => ({
      ...{ createdAt, ...(expiresAt === undefined ? {} : { expiresAt }) },
    })),
    ...{ revision: row.revision, createdAt: row.created_at, updatedAt: row.updated_at },
    updatedBy: shownName(role, row.updated_by),
    managedBy: describeOwner(row.owner),
  };
}
