/** A request that is exempt from the server's requestTimeout, beside one that is not, over a real socket. */
import { request } from 'node:http';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { allowLongBodies } from '../../server/relationships/long-body.ts';

const app = Fastify({ requestTimeout: 1000, http: { connectionsCheckingInterval: 50 } });
const exempt = allowLongBodies(app as never);
const exempted = Promise.withResolvers<void>();
app.addContentTypeParser('text/slow', (_request, payload, done) => done(null, payload));
for (const path of ['/long', '/short']) {
  app.post(path, async ({ raw, body }) => {
    if (path === '/long') {
      exempt(raw);
      exempted.resolve();
    }
    let text = '';
    for await (const chunk of body as AsyncIterable<Buffer>) text += chunk;
    return { text };
  });
}
// Node swaps the two where the headers' is the longer one (its default is a minute).
app.server.headersTimeout = 900;
await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as { port: number };
afterAll(() => app.close());

/** Sends the first part of a body. */
function begin(path: string) {
  const headers = { 'content-type': 'text/slow' };
  const sending = request({ port, method: 'POST', path, headers, agent: false });
  const answer = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    sending.on('error', reject);
    sending.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, text });
    });
  });
  answer.catch(() => {});
  sending.write('a');
  return { answer, sending };
}

test('it may take longer than the others', async () => {
  const long = begin('/long');
  await exempted.promise;
  // It began later, and its time is over.
  expect((await begin('/short').answer).status).toBe(408);
  long.sending.end('b');
  expect(await long.answer).toEqual({ status: 200, text: '{"text":"ab"}' });
  expect(limits.importIdleMs).toBeGreaterThan(app.server.requestTimeout);
});
