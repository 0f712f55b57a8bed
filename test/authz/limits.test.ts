/** Bounds of decisions, each at the limit and one past it: batches, answers, budgets, the decision log. */
import { describe, expect, test } from 'vitest';
import { DecisionLog } from '../../server/authz/index.ts';
import { createEncrypter } from '../../server/core/encrypter.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { Engine, parseResult } from '../../server/policies/index.ts';
import { Strikes } from '../../server/policies/strikes.ts';
import { createCompiler, hostBuiltinNames } from '../../server/rego/index.ts';
import { EventHints } from '../../server/room/events.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer, masterKey } from '../helpers/server.ts';
import { looping } from './attacks.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const backend = await server.client(tenant, 'authz:evaluate');

describe('requests', () => {
  const send = (url: string, payload: object) =>
    server.app.inject({ method: 'POST', url, headers: { authorization: `Bearer ${backend}` }, payload });

  test('of a batch', async () => {
    const batch = (count: number) =>
      send(`/authz/${tenant}/batch`, { requests: Array(count).fill({ action: 'none' }) });
    expect((await batch(limits.batchRequestsMax)).json().decisions).toHaveLength(limits.batchRequestsMax);
    expect((await batch(limits.batchRequestsMax + 1)).json().errors[0].pointer).toBe('/requests');
    expect((await batch(0)).statusCode).toBe(400);
  });

  test('that are refused are explained whole up to so many values', async () => {
    const refused = async (values: number) => {
      const context = { list: Array(values - 4).fill(0) }; // the body, its context, the list and two wrong fields
      return (await send(`/authz/${tenant}`, { context, wrong: 1, wronger: 2 })).json().errors.length;
    };
    expect(await refused(limits.allErrorsBodyValuesMax - 1)).toBe(2);
    expect(await refused(limits.allErrorsBodyValuesMax + 1)).toBe(1);
  });
});

describe('answers', () => {
  const reason = (chars: number) => parseResult({ outcome: 'allow', reason: 'x'.repeat(chars) });
  const obligations = (count: number) => parseResult({ outcome: 'allow', obligations: Array(count).fill('log') });

  test('are denied for a reason that is too long', () => {
    expect(reason(limits.reasonCharsMax).failure).toBeUndefined();
    expect(reason(limits.reasonCharsMax + 1)).toEqual({
      answer: { outcome: 'deny', reason: 'answer_too_large' },
      failure: 'answer_too_large',
    });
  });
  test('are denied for too many obligations', () => {
    expect(obligations(limits.obligationsMax).failure).toBeUndefined();
    expect(obligations(limits.obligationsMax + 1).answer.outcome).toBe('deny');
  });
});

describe('evaluations', async () => {
  const compiler = createCompiler({ workers: 1, observe: () => {} });
  const engines: Engine[] = [];
  closeAtEnd(async () => {
    await compiler.close();
    for (const made of engines) await made.close();
  });
  const compile = async (source: string) => {
    const result = await compiler.compile('limits', source, { builtins: hostBuiltinNames, explain: false });
    if (!result.ok) throw new Error(JSON.stringify(result.errors));
    return result;
  };
  const counting = await compile(
    'package a\noutcome := {"n": count([i | some i in numbers.range(1, input.n); i % 2 == 0])}',
  );
  const quick = await compile('package a\noutcome := "allow"');
  const loop = await compile(looping);
  const unmarshalling = await compile('package a\noutcome := json.unmarshal(input.text)');

  /** An engine whose clock goes on by `stepMs` each time it is asked, and its thread's CPU time by `cpuStepMs`. */
  function engine(stepMs = 0, cpuStepMs = stepMs) {
    let ms = 0;
    let cpu = 0;
    const cpuMs = () => (cpu += cpuStepMs);
    const observations: Observation[] = [];
    const clock = { now: () => 0, monotonic: () => (ms += stepMs) };
    const made = new Engine({ clock, cpuMs, observe: (one) => observations.push(one), fetch: async () => undefined });
    engines.push(made);
    made.preload('t', 'counting', counting);
    made.preload('t', 'quick', quick);
    made.preload('t', 'loop', loop);
    made.preload('t', 'unmarshalling', unmarshalling);
    const run = (artifact: string, input: object = {}) => made.run('t', { name: artifact, artifact }, input, 0);
    return { run, observations };
  }

  test('count as costly past evaluateFuelCostly and not at it', () => {
    const fuelOf = (n: number) => {
      const run = engine().run('counting', { n });
      return run instanceof Promise || !run.ok ? Number.POSITIVE_INFINITY : run.fuelUsed;
    };
    let [fits, exceeds] = [1, 200_000];
    while (exceeds - fits > 1) {
      const n = Math.floor((fits + exceeds) / 2);
      if (fuelOf(n) <= limits.evaluateFuelCostly) fits = n;
      else exceeds = n;
    }
    for (const [n, suspended] of [
      [fits, 0],
      [exceeds, 1],
    ] as const) {
      const { run, observations } = engine();
      for (let strike = 0; strike < limits.suspendStrikes; strike++) run('counting', { n });
      expect(observations.filter((one) => one.kind === 'policy_suspended')).toHaveLength(suspended);
    }
  });

  test('wait for their turn when the one before took longer than evaluatePromptMs', () => {
    const prompt = engine(limits.evaluatePromptMs);
    const slow = engine(limits.evaluatePromptMs + 0.001);
    for (const { run } of [prompt, slow]) expect(run('quick')).toMatchObject({ ok: true });
    expect(prompt.run('quick')).toMatchObject({ ok: true });
    expect(slow.run('quick')).toBeInstanceOf(Promise);
  });

  test('that take more CPU than evaluateLongMs are counted like costly ones, whatever their fuel', async () => {
    const past = limits.evaluateLongMs + 0.001;
    for (const [stepMs, cpuStepMs, suspended] of [
      [limits.evaluateLongMs, limits.evaluateLongMs, 0],
      [past, past, 1],
      // The machine was busy otherwise: nobody is at fault.
      [past, limits.evaluateLongMs, 0],
    ] as const) {
      const { run, observations } = engine(stepMs, cpuStepMs);
      // The first one only has those after it measured.
      for (let strike = 0; strike < limits.suspendStrikes + 1; strike++)
        expect(await run('quick')).toMatchObject({ ok: true });
      expect(observations.filter((one) => one.kind === 'policy_suspended')).toHaveLength(suspended);
    }
  });

  test('of a text that nests too deeply find it undefined: it overflows no stack', async () => {
    const { run, observations } = engine();
    for (let time = 0; time <= limits.suspendStrikes; time++)
      expect(await run('unmarshalling', { text: '['.repeat(20_000) })).toMatchObject({ ok: true, result: {} });
    expect(observations).toEqual([]);
  });

  test('that find the queue full are denied, but not at once', async () => {
    const { run } = engine();
    for (let strike = 0; strike < limits.suspendStrikes; strike++) await run('loop');
    const queued = Array.from({ length: limits.suspendedQueuePerTenantMax + 1 }, () => run('loop'));
    const started = performance.now();
    expect(await run('loop')).toMatchObject({ failure: 'policy_suspended' });
    expect(performance.now() - started).toBeGreaterThanOrEqual(limits.suspendedAnswerDelayMs / 2 - 1);
    await Promise.all(queued);
  });
});

describe('strikes', () => {
  test('count within the window, which the first one has left at its end', () => {
    const strikes = new Strikes(limits.suspendStrikes, limits.suspendWindowMs, 10);
    for (let n = 0; n < limits.suspendStrikes; n++) strikes.add('a', n);
    expect(strikes.isOut('a', limits.suspendWindowMs - 1)).toBe(true);
    expect(strikes.isOut('a', limits.suspendWindowMs)).toBe(false);
  });
  test('of more keys than are kept forget the one that was struck longest ago', () => {
    const strikes = new Strikes(1, limits.suspendWindowMs, limits.strikeKeysMax);
    for (let n = 0; n < limits.strikeKeysMax; n++) strikes.add(`k${n}`, 0);
    expect(strikes.isOut('k0', 1)).toBe(true);
    strikes.add('k0', 1);
    strikes.add('one more', 1);
    expect([strikes.isOut('k0', 1), strikes.isOut('k1', 1), strikes.isOut('k2', 1)]).toEqual([true, false, true]);
  });
});

test('the decision log drops its oldest record past decisionLogQueueMax, and says so', async () => {
  const observations: Observation[] = [];
  const log = new DecisionLog(
    server.db.database,
    (one) => observations.push(one),
    createEncrypter(masterKey),
    new EventHints(),
  );
  const add = (index: number) =>
    log.add(
      { mode: 'all' },
      {
        ...{ tenant, at: Date.UTC(2026, 0, 1) + index, caller: 'client:b', request: { action: `n${index}` } },
        ...{ answer: { outcome: 'allow' }, policyNumber: 1, revision: 1, durationUs: 1, requestId: 'r' },
      },
    );
  for (let index = 0; index < limits.decisionLogQueueMax; index++) add(index);
  expect(observations).toEqual([]);
  add(limits.decisionLogQueueMax);
  await log.close();
  expect(observations).toEqual([{ kind: 'decision_log_dropped', tenant, count: 1 }]);
  const editor = await server.member(tenant, 'config-editor');
  const read = async (action: string) => {
    const url = `/tenants/${tenant}/decisions?action=${action}`;
    return (await server.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${editor}` } })).json();
  };
  expect((await read('n0')).decisions).toEqual([]);
  expect((await read('n1')).decisions).toHaveLength(1);
  expect((await read(`n${limits.decisionLogQueueMax}`)).decisions).toHaveLength(1);
});

test("limits.maxRequestsPerSecond: a batch counts as its requests, into a debt that the tenant's next requests pay", async () => {
  const small = await server.tenant({ limits: { maxRequestsPerSecond: 10 } });
  const token = await server.client(small, 'authz:evaluate');
  const ask = (url: string, payload: object) =>
    server.app.inject({ method: 'POST', url, headers: { authorization: `Bearer ${token}` }, payload });
  const requests = Array.from({ length: 1000 }, () => ({ action: 'none' }));
  expect((await ask(`/authz/${small}/batch`, { requests })).statusCode).toBe(200);
  for (const answer of [await ask(`/authz/${small}`, {}), await ask(`/authz/${small}/batch`, { requests: [{}] })]) {
    expect(answer.statusCode).toBe(429);
    // 990 are owed, ten a second: far longer than this test takes.
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(60);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(100);
  }
});

test('the decision log holds at most decisionLogQueueCharsMax of requests and answers that wait', async () => {
  const observations: Observation[] = [];
  const log = new DecisionLog(
    server.db.database,
    (one) => observations.push(one),
    createEncrypter(masterKey),
    new EventHints(),
  );
  const large = { action: 'large', context: { text: 'x'.repeat(1024 * 1024) } };
  const answer = { outcome: { text: 'y'.repeat(60_000) } };
  const chars = JSON.stringify(large).length + JSON.stringify(answer).length;
  const fitting = Math.floor(limits.decisionLogQueueCharsMax / chars);
  const add = () =>
    log.add(
      { mode: 'all' },
      {
        ...{ tenant, at: Date.UTC(2026, 0, 2), caller: 'client:b', request: large },
        ...{ answer, policyNumber: 1, revision: 1, durationUs: 1, requestId: 'r' },
      },
    );
  for (let index = 0; index < fitting + 1; index++) add();
  await log.close();
  expect(observations).toEqual([{ kind: 'decision_log_dropped', tenant, count: 1 }]);
});

test('limits.maxRequestsPerSecond: so many at once of all callers who were let in, then 429, and other tenants go on', async () => {
  const small = await server.tenant({ limits: { maxRequestsPerSecond: 3 } });
  const tokens = [await server.client(small, 'authz:evaluate'), await server.user(small, 'alice')];
  const ask = (code: string, token: string) =>
    server.app.inject({
      method: 'POST',
      url: `/authz/${code}`,
      headers: { authorization: `Bearer ${token}` },
      payload: {},
    });
  for (let n = 0; n < 5; n++) expect((await ask(small, 'nonsense')).statusCode).toBe(401);
  // Far more at once than a second's worth: however slow this machine is, some are too many.
  const answers = await Promise.all(Array.from({ length: 300 }, (_, n) => ask(small, tokens[n % 2] as string)));
  const refused = answers.filter(({ statusCode }) => statusCode === 429);
  expect(answers.filter(({ statusCode }) => statusCode === 200).length).toBeGreaterThanOrEqual(3);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.headers['retry-after']).toBe('1');
  expect(refused[0]?.json()).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('3 requests') });
  expect((await ask(tenant, backend)).statusCode).toBe(200);
});
