/** Idempotency-Key of the routes that state `config.idempotency`: looked up before the handler; the answer is stored after it. */
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { IdempotencyKey, type IdempotencyRoute } from '../core/idempotency-key.ts';
import type { App } from '../http/fastify.ts';
import { begin, type IdempotencyServices, Reservation } from './actions.ts';

/** Headers of an answer that are part of it. */
const KEPT_HEADERS = ['content-type', 'location', 'accord-revision', 'etag', 'cache-control'] as const;

/** To be registered before the routes. */
export function registerIdempotency(app: App, services: IdempotencyServices): void {
  app.decorateRequest('idempotency', null);
  app.addHook('onRoute', (route) => {
    const idempotency = route.config?.idempotency;
    if (idempotency !== undefined) addHooks(services, route, idempotency);
  });
}

/** @throws Error (at registration) for a route without callers */
function addHooks(services: IdempotencyServices, route: RouteOptions, stated: IdempotencyRoute): void {
  if (route.config?.access?.api === 'public') throw new Error(`the route ${route.url} has no callers to tell apart`);
  const headers = route.schema?.headers as { properties?: Record<string, object> } | undefined;
  route.schema = {
    ...route.schema,
    headers: Type.Object({ ...(headers?.properties as object), 'idempotency-key': IdempotencyKey }),
  };
  const handlers = route.preHandler === undefined ? [] : [route.preHandler].flat();
  route.preHandler = [...handlers, (request, reply) => look(services, request, reply)];
  const sending = route.onSend === undefined ? [] : [route.onSend].flat();
  route.onSend = [
    ...sending,
    async (request, reply, payload) => {
      if (request.idempotency instanceof Reservation) await keep(services, request.idempotency, reply, payload, stated);
      return payload;
    },
  ];
}

async function look(services: IdempotencyServices, request: FastifyRequest, reply: FastifyReply) {
  const key = request.headers['idempotency-key'];
  const { caller, body, method, url } = request;
  if (typeof key !== 'string' || caller === null) return;
  const route = `${method} ${request.routeOptions.url}`;
  const target = `${url}\n${JSON.stringify(body ?? null)}`;
  const found = await begin(services, { caller, route, key, target });
  if ('idempotency' in found) {
    request.idempotency = found.idempotency;
    return;
  }
  const { status, headers, body: text } = found.before;
  return reply
    .status(status)
    .headers({ ...headers, 'idempotency-replayed': 'true' })
    .serializer((value: string) => value)
    .send(text);
}

/** What was refused changed nothing, and may be sent again. */
async function keep(
  { observe }: IdempotencyServices,
  idempotency: Reservation,
  reply: FastifyReply,
  payload: unknown,
  { secrets = [] }: IdempotencyRoute,
): Promise<void> {
  const { statusCode: status } = reply;
  if (status < 200 || status > 299) return;
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  const isText = typeof payload === 'string';
  const holdsSecret = isText && secrets.some((name) => Object.hasOwn(JSON.parse(payload) as object, name));
  await idempotency
    .answered({ status, headers, ...(isText && !holdsSecret ? { body: payload } : {}) })
    // The action is done and its key is reserved: only a repeated request misses the answer.
    .catch((error) => observe({ kind: 'background_failed', task: 'storing the answer of an Idempotency-Key', error }));
}
