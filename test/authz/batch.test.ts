/** What bounds a batch: the bytes of all its answers, how many of a tenant are worked on at once, and a client that does not read. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { BatchLimiter } from '../../server/authz/index.ts';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient } from '../policies/config-client.ts';

const server = await createTestServer();
const tenant = await server.tenant({ decisionLog: { mode: 'all' } });
const backend = await server.client(tenant, 'authz:evaluate');
const config = await configClient(server, tenant);
const TEXT = 'x'.repeat(60_000);
for (const [name, rego] of [
  ['doc:large', `package p\noutcome := {"t": "${TEXT}"}`],
  ['doc:echo', 'package p\noutcome := {"t": input.context.t}'],
  ['doc:yes', 'package p\noutcome := "allow"'],
] as const) {
  expect(await config('PUT', `/policies/${name}`, { body: { rego } })).toMatchObject({ status: 200 });
}

const post = async (url: string, payload: object) =>
  server.app.inject({ method: 'POST', url, headers: { authorization: `Bearer ${backend}` }, payload });
const tooLarge = { outcome: 'deny', reason: 'batch_answers_too_large' };
const bytesOf = (answer: object) => Buffer.byteLength(JSON.stringify(answer));
const large = { action: 'doc:large' };
const largeBytes = bytesOf({ outcome: { t: TEXT } });
const many = Math.floor(limits.batchAnswersBytesMax / largeBytes);

describe('the bytes of all answers', () => {
  /** A request whose answer has exactly the bytes that are left after `many` large ones, and `more`. */
  const filling = (more: number) => {
    const left = limits.batchAnswersBytesMax - many * largeBytes - bytesOf({ outcome: { t: 'é' } });
    return { action: 'doc:echo', context: { t: `é${'x'.repeat(left + more)}` } };
  };

  test('are at most batchAnswersBytesMax; what comes after is denied, and recorded as that', async () => {
    const requests = (more: number) => [...Array(many).fill(large), filling(more), { action: 'doc:yes' }];
    const fits = await post(`/authz/${tenant}/batch`, { requests: requests(0) });
    expect(fits.statusCode).toBe(200);
    expect(fits.json().decisions[many]).toHaveProperty('outcome.t');
    expect(fits.json().decisions[many + 1]).toEqual(tooLarge);

    const headers = { authorization: `Bearer ${backend}`, 'x-request-id': 'past' };
    const url = `/authz/${tenant}/batch`;
    const past = await server.app.inject({ method: 'POST', url, headers, payload: { requests: requests(1) } });
    expect(past.headers['content-type']).toContain('application/json');
    expect(past.json().decisions.slice(many)).toEqual([tooLarge, tooLarge]);
    expect(past.json().decisions[0]).toEqual({ outcome: { t: TEXT } });
    await server.services.authz.log.close();
    for (const action of ['doc:echo', 'doc:yes']) {
      const { body } = await config('GET', `/decisions?action=${action}&limit=1`);
      expect(body.decisions[0]).toMatchObject({ requestId: 'past', answer: tooLarge });
    }
    const failures = server.observations.filter((one) => one.kind === 'decision_failed' && one.tenant === tenant);
    // One for each of the two batches, of the answer that did not fit.
    expect(failures).toMatchObject(
      ['doc:yes', 'doc:echo'].map((policy) => ({ policy, ...{ reason: tooLarge.reason } })),
    );
  });

  test('a thousand that would have 60 MB have little more than the limit', async () => {
    const { payload } = await post(`/authz/${tenant}/batch`, { requests: Array(1000).fill(large) });
    expect(payload.length).toBeLessThan(limits.batchAnswersBytesMax + 1000 * 100);
    expect(JSON.parse(payload).decisions).toHaveLength(1000);
  });

  test('of AuthZEN evaluations too, where none of the rest is permitted', async () => {
    const entity = { type: 'doc', id: '1' };
    const evaluations = Array.from({ length: many + 2 }, (_, n) => ({ action: { name: n > many ? 'yes' : 'large' } }));
    const { payload, statusCode } = await post(`/${tenant}/access/v1/evaluations`, {
      ...{ subject: { type: 'user', id: 'alice' }, resource: entity },
      evaluations,
    });
    expect(statusCode).toBe(200);
    const rest = { decision: false, context: { reason: 'batch_answers_too_large' } };
    expect(JSON.parse(payload).evaluations.slice(-1)).toEqual([rest]);
    expect(payload.length).toBeLessThan(limits.batchAnswersBytesMax + 1000);
  });
});

describe('at once', () => {
  const response = () => new ServerResponse(new IncomingMessage(new Socket()));
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  test('batchesPerTenantMax of a tenant run and batchesWaitingPerTenantMax wait; one more is refused, another tenant is not', async () => {
    const batches = new BatchLimiter();
    const responses: ServerResponse[] = [];
    let begun = 0;
    const start = (code = 't') => {
      const one = response();
      responses.push(one);
      return batches.run(code, one, async () => ++begun);
    };
    const all = Array.from({ length: limits.batchesPerTenantMax }, () => start());
    await Promise.all(all);
    const waiting = Array.from({ length: limits.batchesWaitingPerTenantMax }, () => start());
    await settled();
    expect(begun).toBe(limits.batchesPerTenantMax); // answered, and not taken
    expect(() => start()).toThrow(expect.objectContaining({ code: 'batches_busy', status: 429 }));
    await start('other');
    responses[0]?.destroy();
    await settled();
    expect(await waiting[0]).toBe(limits.batchesPerTenantMax + 2);
    for (const one of responses) one.destroy();
    await Promise.allSettled(waiting);
  });

  test('one whose client is gone before its turn is not worked on', async () => {
    const batches = new BatchLimiter();
    const holding = Array.from({ length: limits.batchesPerTenantMax }, response);
    for (const one of holding) await batches.run('t', one, async () => 1);
    const gone = response();
    const never = batches.run('t', gone, async () => expect.unreachable());
    gone.destroy();
    for (const one of holding) one.destroy();
    // Below 500: whoever closes connections writes nothing to the log of errors.
    await expect(never).rejects.toMatchObject({ code: 'client_closed_request', status: 499 });
  });

  test('a client that does not read its answer within batchAnswerTakenMsMax is cut off', async () => {
    expect(limits.batchAnswerTakenMsMax).toBeGreaterThan(limits.isolatedTimeoutMs);
    const slow = response();
    const closed = new Promise((resolve) => slow.once('close', resolve));
    await new BatchLimiter(1).run('t', slow, async () => 1);
    await closed;
    expect(slow.destroyed).toBe(true);
  });

  test('what fails gives up its place', async () => {
    const batches = new BatchLimiter();
    for (let n = 0; n < limits.batchesPerTenantMax + limits.batchesWaitingPerTenantMax + 1; n++) {
      const one = response();
      await expect(batches.run('t', one, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      one.destroy();
      await settled();
    }
  });

  test('too many over HTTP are a 429 that says when to come back', async () => {
    const requests = Array(limits.batchRequestsMax).fill({ action: 'none' });
    const answers = await Promise.all(Array.from({ length: 60 }, () => post(`/authz/${tenant}/batch`, { requests })));
    const refused = answers.filter(({ statusCode }) => statusCode === 429);
    expect(refused[0]?.json().code).toBe('batches_busy');
    expect(refused[0]?.headers['retry-after']).toBe('1');
    expect(answers.filter(({ statusCode }) => statusCode === 200).length).toBe(60 - refused.length);
  });
});
