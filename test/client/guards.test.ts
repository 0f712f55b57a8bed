/** The guards in real applications of Fastify and Express, before a real server. */
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { describe, expect, test } from 'vitest';
import { expressGuard } from '../../packages/client/src/express.ts';
import { fastifyGuard, type Refusal } from '../../packages/client/src/fastify.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { freePort } from '../helpers/free-port.ts';
import { question, startForClient } from './start.ts';

const { client } = await startForClient();
const accord = client();
const away = client({ baseUrl: `http://127.0.0.1:${await freePort()}`, token: 't', attempts: 1 });
let handled = 0;

/** Who asks is in a header here; `bug` is a question that cannot be made. */
function ask(request: { headers: Record<string, unknown> }) {
  const { user } = request.headers;
  if (user === 'bug') throw new Error('bug');
  return typeof user === 'string' ? question(user) : undefined;
}

async function startFastify() {
  const app = fastify();
  const handler = () => ({ handled: ++handled });
  const questionOf = (request: FastifyRequest) => ask(request);
  app.get('/car', { preHandler: fastifyGuard(accord, questionOf) }, handler);
  app.get('/away', { preHandler: [fastifyGuard(away, questionOf)] }, handler);
  const page = {
    refused: (refusal: Refusal, request: FastifyRequest, reply: FastifyReply) => {
      if (request.headers.user === 'page-bug') throw new Error('bug');
      return reply.code(refusal.status).send({ shown: refusal.decision?.reason ?? refusal.error?.name ?? null });
    },
  };
  app.get('/page', { preHandler: fastifyGuard(accord, questionOf, page) }, handler);
  app.get('/page-away', { preHandler: fastifyGuard(away, questionOf, page) }, handler);
  closeAtEnd(() => app.close());
  return app.listen({ port: 0, host: '127.0.0.1' });
}

async function startExpress() {
  const app = express();
  const handler = (_request: Request, response: Response) => void response.json({ handled: ++handled });
  const questionOf = (request: Request) => ask(request);
  app.get('/car', expressGuard(accord, questionOf), handler);
  app.get('/away', expressGuard(away, questionOf), handler);
  const page = {
    refused: (refusal: Refusal, request: Request, response: Response) => {
      if (request.headers.user === 'page-bug') throw new Error('bug');
      response.status(refusal.status).json({ shown: refusal.decision?.reason ?? refusal.error?.name ?? null });
    },
  };
  app.get('/page', expressGuard(accord, questionOf, page), handler);
  app.get('/page-away', expressGuard(away, questionOf, page), handler);
  app.use((_error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.status(500).end();
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  closeAtEnd(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each([
  ['Fastify', startFastify],
  ['Express', startExpress],
])('%s', async (_name, start) => {
  const origin = await start();
  const get = (path: string, user?: string) => fetch(origin + path, user === undefined ? {} : { headers: { user } });

  test('lets an explicit allow through', async () => {
    const before = handled;
    const answer = await get('/car', 'ann');
    expect([answer.status, await answer.json()]).toEqual([200, { handled: before + 1 }]);
  });

  test.each([
    ['a deny', '/car', 'bob', 403],
    ['an outcome that is an object', '/car', 'odd', 403],
    ['an allow with an obligation', '/car', 'owes', 403],
    ['nobody', '/car', undefined, 403],
    ['a server that is away', '/away', 'ann', 503],
  ])('refuses %s', async (_what, path, user, status) => {
    const before = handled;
    const answer = await get(path, user);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toMatchObject({ type: 'about:blank', status });
    expect(handled).toBe(before);
  });

  test.each([
    ['an allow', '/page', 'ann', 200, { handled: expect.any(Number) }],
    ['a deny, with its reason', '/page', 'carl', 403, { shown: 'not_ann' }],
    ['nobody', '/page', undefined, 403, { shown: null }],
    ['a server that is away', '/page-away', 'ann', 503, { shown: 'AccordNetworkError' }],
  ])('an answer of the application: %s', async (_what, path, user, status, body) => {
    const before = handled;
    const answer = await get(path, user);
    expect([answer.status, await answer.json()]).toEqual([status, body]);
    expect(handled).toBe(status === 200 ? before + 1 : before);
  });

  test('does not go on when the answer of the application fails', async () => {
    const before = handled;
    expect((await get('/page', 'page-bug')).status).toBe(500);
    expect(handled).toBe(before);
  });

  test('gives what the question throws to the error handler', async () => {
    const before = handled;
    expect((await get('/car', 'bug')).status).toBe(500);
    expect(handled).toBe(before);
  });
});
