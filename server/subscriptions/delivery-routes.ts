/** The Config API of deliveries: what was sent and answered, and sending again. */
import { Type } from 'typebox';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { type EventRow, lastEventBefore, readEventsOf } from '../events/index.ts';
import { optionalBody } from '../http/body.ts';
import { type ConfigServing, Empty, writerOf } from '../http/config-api.ts';
import { type App, memberOf } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, linkNext, PAGE_ITEMS, pageQuery } from '../http/paging.ts';
import { requireSubscription } from './actions.ts';
import { type DeliveryActionServices, retryDelivery, testEndpoint } from './delivery-actions.ts';
import { type Found, findDeliveries } from './delivery-store.ts';
import { excerptOf } from './lanes/excerpts.ts';
import { laneStatus } from './lanes/index.ts';

/** One subscription. */
export const ONE = '/tenants/:tenant/event-stream/subscriptions/:id' as const;
export const Params = Type.Object({ tenant: Type.String(), id: Type.String() });
const DeliveryParams = Type.Object({
  ...{ tenant: Type.String(), id: Type.String() },
  delivery: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }),
});

// Records, not configuration: a config-viewer reads none.
export const readers = { access: { api: 'config', roles: ['security-admin', 'config-editor', 'support'] } } as const;
export const writers = { access: { api: 'config', roles: ['security-admin'] } } as const;

export const instant = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 64, description }));
const Status = (description: string) =>
  Type.Union([Type.Literal('delivered'), Type.Literal('failed'), Type.Literal('waiting'), Type.Literal('suspended')], {
    description,
  });

const Query = Type.Object(
  {
    ...pageQuery,
    status: Type.Optional(Status('Default: all.')),
    since: instant('Only events that were numbered then or later.'),
    until: instant('Only events that were numbered before.'),
  },
  { additionalProperties: false },
);

const Delivery = Type.Object({
  id: Type.String({ description: 'The number of the event.' }),
  status: Status(
    'waiting: it is sent again, or waits behind another event with its subject. suspended: the subscription is paused or disabled, and the event is sent when it no longer is. failed: it is not sent again.',
  ),
  event: Type.Optional(
    Type.Object({ id: Type.String(), type: Type.String(), time: Type.String(), subject: Type.Optional(Type.String()) }),
  ),
  nextAttemptAt: Type.Optional(Type.String({ format: 'date-time' })),
  request: Type.Optional(Type.String({ description: 'The beginning of the data, without addresses of persons.' })),
  attempts: Type.Array(
    Type.Object({
      number: Type.Integer(),
      at: Type.String({ format: 'date-time' }),
      durationMs: Type.Integer(),
      status: Type.Optional(Type.Integer({ description: 'HTTP status of the answer. Absent: there was none.' })),
      replay: Type.Boolean({ description: 'Whether a replay sent it.' }),
      error: Type.Optional(Type.String()),
      answer: Type.Optional(Type.String({ description: 'The beginning of the answer, without addresses of persons.' })),
    }),
  ),
});

const Tested = Type.Object({
  ok: Type.Boolean({ description: 'Whether the endpoint answered with a status from 200 to 299.' }),
  status: Type.Optional(Type.Integer()),
  durationMs: Type.Integer(),
  error: Type.Optional(Type.String()),
  answer: Type.Optional(Type.String()),
});

export type RouteServices = DeliveryActionServices & ConfigServing;

export function registerDeliveryRoutes(app: App, services: RouteServices): void {
  registerList(app, services);
  registerAgain(app, services);
}

function registerList(app: App, services: RouteServices): void {
  app.route({
    method: 'GET',
    url: `${ONE}/deliveries`,
    config: readers,
    schema: {
      summary: 'List what was sent to an endpoint and what it answered, newest events first',
      description: 'Support sees neither subjects nor requests nor answers.',
      params: Params,
      querystring: Query,
      response: { 200: Type.Object({ deliveries: Type.Array(Delivery), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const { limit = PAGE_ITEMS, cursor, status, since, until } = request.query;
      const before = cursor === undefined ? undefined : Number(decodeCursor(cursor, 'deliveries', /^\d{1,15}$/));
      const { found, events, isSuspended } = await services.database.tenantSnapshot(tenant, async (tx) => {
        const { spec } = await requireSubscription(tx, tenant, id);
        const lane = await laneStatus(tx, tenant, { id, isPaused: spec.paused });
        const isSuspended = lane?.state === 'paused' || lane?.state === 'disabled';
        const from = since === undefined ? undefined : (await lastEventBefore(tx, tenant, utc(since))) + 1;
        const to = until === undefined ? undefined : await lastEventBefore(tx, tenant, utc(until));
        const range = { before, from, until: to, limit: limit + 1 };
        const isNone = status === (isSuspended ? 'waiting' : 'suspended');
        const stored = status === 'suspended' ? 'waiting' : status;
        const found = isNone ? [] : await findDeliveries(tx, { tenant, id }, stored, range);
        const shown = found.slice(0, limit).map((one) => one.sequence);
        const events = shown.length === 0 ? [] : await readEventsOf(tx, tenant, shown);
        return { found, events, isSuspended };
      });
      const isMasked = memberOf(request).role === 'support';
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const onward = last === undefined ? {} : { cursor: encodeCursor(String(last.sequence), 'deliveries') };
      if (onward.cursor !== undefined) linkNext(reply, request.url, { limit, cursor: onward.cursor });
      const bySequence = new Map(events.map((event) => [event.sequence, event]));
      const of = { isMasked, isSuspended };
      return { deliveries: page.map((one) => view(one, bySequence.get(one.sequence), of)), ...onward };
    },
  });
}

function view(
  { sequence: number, attempts, waiting }: Found,
  event: EventRow | undefined,
  { isMasked, isSuspended }: { isMasked: boolean; isSuspended: boolean },
) {
  const isDelivered = attempts.some(({ status }) => status >= 200 && status < 300);
  const open = isSuspended ? ('suspended' as const) : ('waiting' as const);
  const status = waiting !== undefined ? open : isDelivered ? ('delivered' as const) : ('failed' as const);
  return {
    ...{ id: String(number), status },
    ...(event === undefined
      ? {}
      : { event: { id: event.id, type: event.type, time: event.time, ...(isMasked ? {} : { subject: event.key }) } }),
    ...(waiting === undefined || isSuspended ? {} : { nextAttemptAt: waiting.next_at }),
    ...(event === undefined || isMasked ? {} : { request: excerptOf(JSON.stringify(event.body)) }),
    attempts: attempts.map((one) => ({
      ...{ number: one.number, at: one.at, durationMs: one.ms, replay: one.kind === 'r' },
      ...(one.status === 0 ? {} : { status: one.status }),
      ...(one.error === null ? {} : { error: one.error }),
      ...(one.answer === null || isMasked ? {} : { answer: one.answer }),
    })),
  };
}

function registerAgain(app: App, services: RouteServices): void {
  app.route({
    method: 'POST',
    url: `${ONE}/deliveries/:delivery/retry`,
    config: writers,
    bodyLimit: limits.strayBodyBytesMax,
    schema: {
      summary: 'Send an event to the endpoint once more',
      params: DeliveryParams,
      body: Empty,
      response: { 202: Empty },
    },
    onRequest: optionalBody,
    handler: async (request, reply) => {
      const { tenant, id, delivery } = request.params;
      await retryDelivery(services, writerOf(request), tenant, { id, sequence: Number(delivery) });
      return reply.status(202).send({});
    },
  });
  app.route({
    method: 'POST',
    url: `${ONE}/test`,
    config: writers,
    bodyLimit: limits.strayBodyBytesMax,
    schema: {
      summary: 'Send a test event to the endpoint, and tell what it answered',
      description:
        'The event has the type TEST and the number 0. It is sent whether the subscription is enabled or not.',
      params: Params,
      body: Empty,
      response: { 200: Tested },
    },
    onRequest: optionalBody,
    handler: async (request) => {
      const { tenant, id } = request.params;
      const { ok, status, ms, error, answer } = await testEndpoint(services, writerOf(request), tenant, id);
      return {
        ...{ ok, durationMs: ms },
        ...(status === 0 ? {} : { status }),
        ...(error === undefined ? {} : { error }),
        ...(answer === undefined ? {} : { answer }),
      };
    },
  });
}
