/** A server whose event loop is late on average (eventLoopDelayMsMax) tells requests to come back. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { limits } from '../../server/core/limits.ts';
import type { App } from '../../server/http/fastify.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';

const TURN_MS = 60;
const server = await createTestServer();
const withBound = async (eventLoopDelayMsMax?: number) => {
  const bound = eventLoopDelayMsMax === undefined ? undefined : { eventLoopDelayMsMax };
  const app = await createApp(server.config, server.services, bound);
  await app.ready();
  closeAtEnd(() => app.close());
  return app;
};

function holdUp(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

const ask = async (app: App) => {
  const response = await app.inject({ method: 'POST', url: '/authz/nobody', payload: {} });
  return { status: response.statusCode, retryAfter: response.headers['retry-after'], body: response.json() };
};

test('while the event loop is later than the bound, and not while it is less late than that', async () => {
  const [tight, usual] = [await withBound(TURN_MS / 3), await withBound()];
  expect(limits.eventLoopDelayMsMax).toBeGreaterThan(TURN_MS);
  await until('pressure', async () => {
    for (let n = 0; n < 10 && !tight.isUnderPressure(); n++) {
      holdUp(TURN_MS);
      await turn();
    }
    return tight.isUnderPressure();
  });
  const [late, taken, untold] = [await ask(tight), await ask(usual), await ask(server.app)];
  expect(late).toMatchObject({ status: 503, retryAfter: '1', body: { code: 'not_ready' } });
  expect([taken.status, untold.status]).toEqual([404, 404]);
});
