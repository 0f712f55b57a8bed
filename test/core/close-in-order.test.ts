/** Stopping: what hangs, or fails, takes nothing with it that the other steps would still do. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { closeInOrder } from '../../server/core/close-in-order.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { startServer } from '../../server/main.ts';
import { createServices } from '../../server/services.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';

const { config, db, tenant, client } = await createTestServer();
const STEP_MS = 300;
const told = (observations: readonly Observation[]) =>
  observations.flatMap((one) => (one.kind === 'background_failed' ? [[one.task, (one.error as Error).message]] : []));

test('a step that hangs is given up after its time, one that fails is told, and the others are done in order', async () => {
  const observations: Observation[] = [];
  const done: string[] = [];
  const steps = [
    { name: 'a', close: async () => done.push('a') },
    { name: 'hanging', close: () => new Promise(() => {}), late: () => done.push('late') },
    { name: 'failing', close: () => Promise.reject(new Error('no')) },
    {
      name: 'throwing',
      close: () => {
        throw new Error('neither');
      },
    },
    { name: 'z', close: async () => done.push('z') },
  ];
  const began = performance.now();
  await closeInOrder(steps, { observe: (one) => observations.push(one), stepMsMax: STEP_MS });
  expect(performance.now() - began).toBeGreaterThanOrEqual(STEP_MS - 5);
  expect(done).toEqual(['a', 'late', 'z']);
  expect(told(observations)).toEqual([
    ['closing hanging', `it was not closed within ${STEP_MS} ms, and is left as it is`],
    ['closing failing', 'no'],
    ['closing throwing', 'neither'],
  ]);
});

test('a server that is asked something without an end stops nevertheless, and the others know', async () => {
  // Kubernetes waits for 30 s, in which the steps behind the first one need theirs.
  expect(limits.closeStepMsMax).toBeLessThanOrEqual(10_000);
  const listeners = { ACCORD_LISTEN: '127.0.0.1:0', ACCORD_ADMIN_LISTEN: '127.0.0.1:0' };
  const observations: Observation[] = [];
  const code = await tenant();
  const token = await client(code, 'authz:evaluate');
  const observe = (one: Observation) => void observations.push(one);
  const services = await createServices({ ...config, ...listeners }, { applicationName: 'serve', observe });
  const running = await startServer({ ...config, ...listeners }, services, { closeStepMsMax: STEP_MS });
  const known = () => asAdmin(db.adminUrl, 'select 1 from accord.server where id = $1', [services.server]);
  expect(await known()).toHaveLength(1);
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
  socket.on('error', () => {}).resume();
  await once(socket, 'connect');
  const head = [`authorization: Bearer ${token}`, 'content-type: application/json', 'content-length: 9', 'host: a'];
  const begun = new Promise<void>((resolve) => {
    const heard = () => {
      unsubscribe('http.server.request.start', heard);
      resolve();
    };
    subscribe('http.server.request.start', heard);
  });
  socket.write(`POST /authz/${code} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{`);
  // The server has the beginning of the request.
  await begun;
  const ended = once(socket, 'close');
  await running.close();
  await services.close();
  await ended;
  expect(told(observations)).toEqual([['closing the APIs', expect.stringContaining(`${STEP_MS} ms`)]]);
  expect(await known()).toEqual([]);
});
