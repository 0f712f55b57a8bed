/** The Config API of replays: beginning one, how far it is, and ending it. */
import { type Static, Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { optionalBody } from '../http/body.ts';
import { Empty, writerOf } from '../http/config-api.ts';
import type { App } from '../http/fastify.ts';
import { decodeRecordCursor, encodeRecordCursor, PAGE_ITEMS, PageQuery, pageOfRows } from '../http/paging.ts';
import { requireSubscription } from './actions.ts';
import { instant, ONE, Params, type RouteServices, readers, writers } from './delivery-routes.ts';
import { cancelReplay, requireReplay, startReplay } from './replay-actions.ts';
import { listReplays, type ReplayRow } from './replay-store.ts';

const ReplayParams = Type.Object({
  ...{ tenant: Type.String(), id: Type.String() },
  replay: Type.String({ pattern: UUID.source }),
});

const sequence = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }));

const ReplayBody = Type.Object(
  {
    since: instant('Events that were numbered then or later. One of since and fromSequence is needed.'),
    until: instant('Only events that were numbered before. Default: up to the newest one.'),
    fromSequence: sequence('Number of the first event.'),
    toSequence: sequence('Number of the last event. Default: the newest one.'),
    eventTypes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: limits.eventTypesAskedMax }),
    ),
    failedOnly: Type.Optional(
      Type.Boolean({ default: false, description: 'Only events that were tried and never delivered.' }),
    ),
  },
  { additionalProperties: false },
);

const ReplayView = Type.Object({
  replayId: Type.String(),
  state: Type.Union([Type.Literal('running'), Type.Literal('finished'), Type.Literal('cancelled')], {
    description: 'running: also while the subscription is paused or disabled or its endpoint fails, when it waits.',
  }),
  fromSequence: Type.Integer({ description: 'Number of the first event of the range.' }),
  toSequence: Type.Integer({
    description: 'Number of the last event of the range. Less than fromSequence: there is none.',
  }),
  atSequence: Type.Integer({ description: 'Number of the newest event that was looked at.' }),
  delivered: Type.Integer({ description: 'Events that the endpoint has taken.' }),
  failed: Type.Integer({ description: 'Events that were given up.' }),
  eventTypes: Type.Optional(Type.Array(Type.String())),
  failedOnly: Type.Boolean(),
  startedAt: Type.String({ format: 'date-time' }),
  endedAt: Type.Optional(Type.String({ format: 'date-time' })),
});

function view(row: ReplayRow): Static<typeof ReplayView> {
  const { id: replayId, first, last, cursor, delivered, failed, event_types, failed_only, finished_at } = row;
  return {
    ...{ replayId, state: finished_at === null ? 'running' : row.cancelled ? 'cancelled' : 'finished' },
    ...{ fromSequence: first, toSequence: last, atSequence: cursor, delivered, failed },
    ...(event_types === null ? {} : { eventTypes: event_types }),
    ...{ failedOnly: failed_only, startedAt: row.created_at },
    ...(finished_at === null ? {} : { endedAt: finished_at }),
  };
}

export function registerReplayRoutes(app: App, services: RouteServices): void {
  app.route({
    method: 'POST',
    url: `${ONE}/replay`,
    config: writers,
    bodyLimit: limits.configBodyBytesMax,
    schema: {
      summary: 'Send events of a range again, beside the live ones',
      description: 'At most one replay of a subscription is under way at a time.',
      ...{ params: Params, body: ReplayBody, response: { 202: ReplayView } },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const { result } = await startReplay(services, writerOf(request), tenant, id, request.body);
      reply.header('location', `/tenants/${tenant}/event-stream/subscriptions/${id}/replays/${result.id}`);
      return reply.status(202).send(view(result));
    },
  });
  registerReading(app, services);
  app.route({
    method: 'POST',
    url: `${ONE}/replays/:replay/cancel`,
    config: writers,
    bodyLimit: limits.strayBodyBytesMax,
    schema: {
      summary: 'End a replay',
      description: 'Requests that are on their way are not called back. A replay that has ended stays as it is.',
      ...{ params: ReplayParams, body: Empty, response: { 200: ReplayView } },
    },
    onRequest: optionalBody,
    handler: async (request) => {
      const { tenant, id, replay } = request.params;
      return view(await cancelReplay(services, writerOf(request), tenant, { id, replay }));
    },
  });
}

function registerReading(app: App, services: RouteServices): void {
  app.route({
    method: 'GET',
    url: `${ONE}/replays`,
    config: readers,
    schema: {
      summary: 'List the replays of a subscription, newest first',
      description: 'Those that ended are kept for 14 days.',
      params: Params,
      querystring: PageQuery,
      response: { 200: Type.Object({ replays: Type.Array(ReplayView), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const before = cursor === undefined ? undefined : decodeRecordCursor(cursor, 'replays');
      const [, rows] = await services.database.read(tenant, (tx) =>
        Promise.all([
          requireSubscription(tx, tenant, id),
          listReplays(tx, { tenant, id }, { before, limit: limit + 1 }),
        ]),
      );
      const { page, onward } = pageOfRows({ request, reply }, rows, limit, (last) =>
        encodeRecordCursor({ at: last.created_at, id: last.id }, 'replays'),
      );
      return { replays: page.map(view), ...onward };
    },
  });
  app.route({
    method: 'GET',
    url: `${ONE}/replays/:replay`,
    config: readers,
    schema: { summary: 'Read how far a replay is', params: ReplayParams, response: { 200: ReplayView } },
    handler: async (request) => {
      const { tenant, id, replay } = request.params;
      return view(await services.database.read(tenant, (tx) => requireReplay(tx, tenant, { id, replay })));
    },
  });
}
