/** Accord-Revision and Accord-Min-Revision: read your own writes on whichever server answers. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';

const writer = await createTestServer();
// It hears of nothing by itself but the notification, which the header must not depend on.
const reader = await createTestServer({ ACCORD_MASTER_KEY: writer.config.ACCORD_MASTER_KEY as string }, writer.db);
const tenant = await writer.tenant();
const editor = await writer.member(tenant, 'config-editor');
const backend = await writer.client(tenant, 'authz:evaluate');
await reader.services.snapshots.refresh(tenant);

async function put(name: string, outcome: string): Promise<string> {
  const response = await writer.app.inject({
    method: 'PUT',
    url: `/tenants/${tenant}/policies/${name}`,
    headers: { authorization: `Bearer ${editor}` },
    payload: { rego: `package p\noutcome := {"is": "${outcome}"}` },
  });
  expect(response.statusCode).toBe(200);
  return response.headers['accord-revision'] as string;
}

const ask = (action: string, minRevision: string | undefined, token = backend) =>
  reader.app.inject({
    method: 'POST',
    url: `/authz/${tenant}`,
    headers: {
      authorization: `Bearer ${token}`,
      ...(minRevision === undefined ? {} : { 'accord-min-revision': minRevision }),
    },
    payload: { action },
  });

describe('Accord-Min-Revision', () => {
  test('makes another server answer from what was just written, each time', async () => {
    for (let n = 0; n < 20; n++) {
      const response = await ask('own', await put('own', `v${n}`));
      expect(response.json()).toEqual({ outcome: { is: `v${n}` } });
    }
  });

  test('that is reached already costs nothing, and the answer tells its own', async () => {
    const revision = await put('own', 'last');
    const first = await ask('own', revision);
    expect(first.headers['accord-revision']).toBe(revision);
    expect((await ask('own', 'c1')).headers['accord-revision']).toBe(revision);
    expect((await ask('own', 'c0')).statusCode).toBe(200);
  });

  test('that is written while the request waits is answered then', async () => {
    // Where the machine is so busy that writing and reading take longer than the request may wait: written again.
    const answer = await until('an answer in time', async () => {
      const last = Number((await put('own', 'before')).slice(1));
      const waiting = ask('own', `c${last + 1}`);
      await put('own', 'after');
      const answered = await waiting;
      return answered.statusCode === 503 ? undefined : answered;
    });
    expect(answer.json()).toEqual({ outcome: { is: 'after' } });
  });

  test('that nobody has written yet is 503 after a bounded wait, to be tried again', async () => {
    const started = performance.now();
    const response = await ask('own', 'c999999');
    expect(performance.now() - started).toBeGreaterThanOrEqual(limits.minRevisionWaitMs - 1); // a timer's rounding
    expect([response.statusCode, response.json().code]).toEqual([503, 'revision_not_reached']);
    expect(response.headers['retry-after']).toBe('1');
  });

  test.each(['7', 'c', 'c-1', 'c1.5', 'C1', 'c1 ', 'c9999999999999999', 'rx1', '"c1"', 'c1,c2'].map((text) => [text]))(
    '%j is no revision: 400',
    async (text) => {
      const response = await ask('own', text.endsWith(' ') ? `${text}x` : text);
      expect([response.statusCode, response.json().errors[0].pointer]).toEqual([400, '/headers/accord-min-revision']);
    },
  );

  test('makes nobody wait who may not come in', async () => {
    expect((await ask('own', 'c999999', 'nonsense')).statusCode).toBe(401);
  });

  test('holds on the Config API too', async () => {
    const revision = await put('seen', 'x');
    const response = await reader.app.inject({
      method: 'GET',
      url: `/tenants/${tenant}/policies/seen`,
      headers: { authorization: `Bearer ${editor}`, 'accord-min-revision': revision },
    });
    expect(response.statusCode).toBe(200);
  });
});
