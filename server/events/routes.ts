/** Reading events: by pages, by waiting for them, and as a stream of server-sent events; and what types there are. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { asksFor } from '../http/accept.ts';
import { type App, endUnread, TenantParams } from '../http/fastify.ts';
import type { EventType } from '../room/events.ts';
import { cloudEvent, typesNamed } from './envelope.ts';
import { type Asked, awaitPage, type EventPage, follow, type ReadingServices, readPage } from './reading.ts';
import { CloudEvent, type EventRow } from './schema.ts';

type RouteServices = ReadingServices & { baseUrl: string; types: ReadonlyMap<string, EventType> };

const PAGE_ITEMS = 100;
const configReaders = ['security-admin', 'config-editor', 'config-viewer'] as const;

const Page = Type.Object({
  events: Type.Array(CloudEvent),
  after: Type.Integer({ description: 'Where the next request begins: send it as `after`.' }),
  last: Type.Integer({ description: 'Number of the newest event of the tenant, of whatever type.' }),
});

const Query = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Number of an event: those behind it are read. Default: all that are kept.',
      }),
    ),
    types: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: `Types of events, separated by commas; a * at the end stands for any end. At most ${limits.eventTypesAskedMax}. Default: all.`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.eventsPageMax,
        description: `Maximum number of events. Default: ${PAGE_ITEMS}.`,
      }),
    ),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.eventWaitMsMax / 1000,
        description: 'How many seconds to wait for an event when there is none. Default: 0.',
      }),
    ),
  },
  { additionalProperties: false },
);

const EventTypes = Type.Object({
  types: Type.Array(
    Type.Object({
      name: Type.String(),
      when: Type.String(),
      operations: Type.Array(Type.String(), { description: 'Operations that emit it. Empty: no request does.' }),
      schema: Type.Unknown({ description: 'JSON Schema of `data`.' }),
      example: Type.Unknown({ description: 'An example of `data`.' }),
    }),
  ),
});

export function registerEventRoutes(app: App, services: RouteServices): void {
  const { types } = services;
  // Readers that wait would hold up the end of the server.
  app.addHook('preClose', async () => services.readers.end());
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/event-stream/event-types',
    config: { access: { api: 'config', roles: configReaders } },
    schema: {
      summary: 'List the types of events, with their JSON Schemas',
      params: TenantParams,
      response: { 200: EventTypes },
    },
    handler: async () => ({
      types: [...types.values()].map(({ name, when, operations, data: schema, example }) => {
        return { name, when, operations: [...operations], schema, example };
      }),
    }),
  });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/event-stream/events',
    config: { access: { api: 'management', scope: 'events:read', users: false } },
    schema: {
      summary: 'Read events, oldest first',
      description:
        'Events are CloudEvents. With the header Accept: text/event-stream they are server-sent events, each with its number as id; the stream ends after a minute, and Last-Event-ID resumes it.',
      params: TenantParams,
      querystring: Query,
      response: { 200: Page },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { after, types: patterns, limit = PAGE_ITEMS, wait = 0 } = request.query;
      const asked: Asked = {
        ...{ tenant, limit, after: lastEventId(request.headers['last-event-id']) ?? after },
        types: patterns === undefined ? undefined : namedIn(patterns, [...types.keys()]),
      };
      const view = (event: EventRow) => cloudEvent(`${services.baseUrl}/${tenant}`, event);
      if (asksFor(request.headers.accept, 'text/event-stream')) return stream(services, asked, view, reply);
      const { events, after: onward, last } = await pageOf(services, asked, wait * 1000, reply);
      reply.header('cache-control', 'no-store');
      endUnread(reply, limits.requestTimeoutMs);
      return { events: events.map(view), after: onward, last };
    },
  });
}

/** @returns undefined for all types. @throws Problem invalid_request */
function namedIn(patterns: string, all: readonly string[]): string[] | undefined {
  const named = typesNamed(patternsIn(patterns), all, '/query/types');
  return named.length === all.length ? undefined : [...named];
}

/** @throws Problem invalid_request */
function patternsIn(text: string): string[] {
  const patterns = text.split(',').map((pattern) => pattern.trim());
  if (patterns.length <= limits.eventTypesAskedMax) return patterns;
  const detail = `At most ${limits.eventTypesAskedMax} types can be named.`;
  throw problem('invalid_request', { detail, errors: [{ pointer: '/query/types', detail }] });
}

/** @throws Problem invalid_request */
function lastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  const id = Number(header);
  if (/^\d{1,16}$/.test(String(header)) && Number.isSafeInteger(id)) return id;
  const detail = 'The header Last-Event-ID must be the id of an event of this stream: a number.';
  throw problem('invalid_request', { detail });
}

async function pageOf(services: RouteServices, asked: Asked, waitMs: number, reply: FastifyReply) {
  if (waitMs === 0) return readPage(services, asked);
  const end = services.readers.begin(asked.tenant);
  try {
    return await awaitPage(services, asked, waitMs, signalOf(services, reply));
  } finally {
    end();
  }
}

/** Aborted when the client is gone, or the server stops. */
function signalOf({ readers }: RouteServices, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, readers.ended]);
}

async function stream(
  services: RouteServices,
  asked: Asked,
  view: (event: EventRow) => CloudEvent,
  reply: FastifyReply,
) {
  // What is wrong with the question is answered before the stream begins.
  const first = await readPage(services, asked);
  const end = services.readers.begin(asked.tenant);
  const signal = signalOf(services, reply);
  async function* text(): AsyncGenerator<string> {
    yield `retry: 1000\n\n${linesOf(first, view)}`;
    for await (const page of follow(services, { ...asked, after: first.after }, signal)) yield linesOf(page, view);
  }
  const body = Readable.from(text());
  // A reader that takes little may never come to the end of the minute.
  const late = setTimeout(() => reply.raw.destroy(), limits.eventStreamMsMax + limits.requestTimeoutMs).unref();
  body.once('close', () => {
    clearTimeout(late);
    end();
  });
  reply.raw.once('close', () => body.destroy());
  endUnread(reply, limits.requestTimeoutMs);
  return reply.type('text/event-stream').header('cache-control', 'no-store').send(body);
}

/**
 * A page as server-sent events. Behind them stands how far was looked, as an id without data: it is no event for the client, which
 * sends it as Last-Event-ID when it connects again, so that events of other types are not looked at a second time.
 */
function linesOf({ events, after }: EventPage, view: (event: EventRow) => CloudEvent): string {
  const lines = events.map((event) => `id: ${event.sequence}\ndata: ${JSON.stringify(view(event))}\n\n`);
  const isBehind = events.at(-1)?.sequence !== after;
  return lines.join('') + (isBehind ? `id: ${after}\n\n` : '');
}
