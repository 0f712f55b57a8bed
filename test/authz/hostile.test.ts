/**
 * Policies that loop, swallow memory or conflict: denied with their reason, moved off the main thread when they do it
 * again, denied at once when too many wait, and let back when the window has passed; nobody else notices.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { Engine, type Run } from '../../server/policies/index.ts';
import { type Code, createCompiler, hostBuiltinNames } from '../../server/rego/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer } from '../helpers/server.ts';
import { conflicting, growing, looping, notQuiteLooping } from './attacks.ts';

const compiler = createCompiler({ workers: 1, observe: () => {} });
afterAll(() => compiler.close());

/** Without its plan: test/policies/plan-engine.test.ts has those. */
async function compile(source: string): Promise<Code> {
  const result = await compiler.compile('hostile', source, { builtins: hostBuiltinNames, explain: false });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return { wasm: result.wasm };
}

const wasm = {
  looping: await compile(looping),
  growing: await compile(growing),
  conflicting: await compile(conflicting),
  costly: await compile(
    `package a\noutcome := "allow" if { r := numbers.range(1, 105); some i in r; some j in r; i * j == 11025 }`,
  ),
  good: await compile('package a\noutcome := "allow"'),
  broken: { wasm: Uint8Array.of(0, 1, 2, 3) },
};
type Name = keyof typeof wasm;

function engine() {
  const clock = new TestClock();
  const observations: Observation[] = [];
  const fetched: string[] = [];
  const made = new Engine({
    clock,
    observe: (one) => observations.push(one),
    fetch: async (_, digest) => {
      fetched.push(digest);
      return wasm[digest.split('-')[0] as Name];
    },
  });
  closeAtEnd(() => made.close());
  for (const [name, bytes] of Object.entries(wasm)) {
    if (name === 'broken') continue;
    for (const tenant of ['evil', 'good']) made.preload(tenant, name, bytes);
  }
  const input = { subject: { id: 'a' } };
  const run = (tenant: string, name: string) =>
    made.run(tenant, { name: `p:${name}`, artifact: name }, input, clock.now());
  const suspended = () => observations.filter((one) => one.kind === 'policy_suspended');
  return { engine: made, clock, run, suspended, fetched };
}

const isHere = (run: Run | Promise<Run>): run is Run => !(run instanceof Promise);
const failureOf = (run: Run) => (run.ok ? 'ok' : run.failure);

describe('a policy that exhausts its budget', () => {
  test.each([
    ['looping', 'policy_budget_exhausted'],
    ['growing', 'policy_memory_exhausted'],
  ])('(%s) twice in a minute runs in the worker until the minute has passed', async (name, reason) => {
    const { run, clock, suspended } = engine();
    for (const _ of [1, 2]) {
      const here = run('evil', name);
      expect(isHere(here) && failureOf(here)).toBe(reason);
      clock.advance(limits.suspendWindowMs / 2 - 1);
    }
    expect(suspended()).toEqual([{ kind: 'policy_suspended', tenant: 'evil', policy: `p:${name}` }]);
    const apart = run('evil', name);
    expect(isHere(apart)).toBe(false);
    expect(failureOf(await apart)).toBe(reason);
    clock.advance(limits.suspendWindowMs + 1);
    const again = run('evil', name);
    expect(isHere(again) && failureOf(again)).toBe(reason);
  });

  test('in the worker goes on counting: who goes on stays there', async () => {
    const { run, clock } = engine();
    for (const _ of [1, 2]) await run('evil', 'looping');
    for (let n = 0; n < 4; n++) {
      clock.advance(limits.suspendWindowMs * 0.4);
      const apart = run('evil', 'looping');
      expect(isHere(apart)).toBe(false);
      await apart;
    }
  });

  test('once a minute stays: that is bad luck', async () => {
    const { run, clock, suspended } = engine();
    for (let n = 0; n < 3; n++) {
      expect(isHere(run('evil', 'growing'))).toBe(true);
      clock.advance(limits.suspendWindowMs);
    }
    expect(suspended()).toEqual([]);
  });

  test('by almost all of it, and answers: it is counted too, and answers from the worker', async () => {
    const { run } = engine();
    for (const _ of [1, 2]) expect(run('evil', 'costly')).toMatchObject({ ok: true, result: { outcome: 'allow' } });
    const apart = run('evil', 'costly');
    expect(isHere(apart)).toBe(false);
    expect(await apart).toMatchObject({ ok: true, result: { outcome: 'allow' } });
  });

  test('leaves other policies of its tenant and other tenants with the same policy alone', async () => {
    const { run } = engine();
    for (const _ of [1, 2]) await run('evil', 'looping');
    expect(run('evil', 'good')).toMatchObject({ ok: true });
    expect(isHere(run('good', 'looping'))).toBe(true);
  });
});

test(`a tenant whose policies do so ${limits.suspendTenantStrikes} times runs nothing on the main thread`, async () => {
  const { engine: made, run, clock } = engine();
  for (let n = 0; n < limits.suspendTenantStrikes; n++) {
    made.preload('evil', `looping-${n}`, wasm.looping); // another name each time
    expect(isHere(run('evil', 'good'))).toBe(true);
    expect(isHere(run('evil', `looping-${n}`))).toBe(true);
  }
  const apart = run('evil', 'good');
  expect(isHere(apart)).toBe(false);
  expect(await apart).toMatchObject({ ok: true });
  expect(isHere(run('good', 'good'))).toBe(true);
  clock.advance(limits.suspendWindowMs + 1);
  expect(isHere(run('evil', 'good'))).toBe(true);
});

describe('the queue of the worker', () => {
  test(`holds ${limits.suspendedQueuePerTenantMax} of a tenant and denies what is past it`, async () => {
    const { run } = engine();
    for (const _ of [1, 2]) await run('evil', 'looping');
    const runs = Array.from({ length: limits.suspendedQueuePerTenantMax + 3 }, () => run('evil', 'looping'));
    const failures = (await Promise.all(runs)).map(failureOf);
    // One is with the worker already.
    const expected = [
      ...Array(limits.suspendedQueuePerTenantMax + 1).fill('policy_budget_exhausted'),
      'policy_suspended',
      'policy_suspended',
    ];
    expect(failures).toEqual(expected);
  });

  test('takes tenants in turn: one evaluation of another waits for one, not for all', async () => {
    const { run } = engine();
    // What ends well is answered when it ends; failures come late, in no order.
    for (const tenant of ['evil', 'good']) for (const _ of [1, 2]) await run(tenant, 'costly');
    const order: string[] = [];
    const note = (tenant: string) => {
      const one = run(tenant, 'costly');
      expect(isHere(one)).toBe(false);
      return Promise.resolve(one).then(() => order.push(tenant));
    };
    await Promise.all([...Array.from({ length: 10 }, () => note('evil')), note('good')]);
    expect(order.indexOf('good')).toBeLessThanOrEqual(2);
  });
});

describe('conflicts', () => {
  test(`deny with their reason hundreds of times; past ${limits.suspendConflicts} a minute the worker has them`, async () => {
    const { run, suspended } = engine();
    let here = 0;
    const ask = async () => {
      const one = run('evil', 'conflicting');
      if (isHere(one)) here++;
      expect(failureOf(await one)).toBe('policy_conflict');
    };
    for (let n = 0; n <= limits.suspendConflicts; n++) await ask();
    // What fails in the worker is answered late: as many at once as its queue takes.
    for (let n = 0; n < 20; n++) await Promise.all(Array.from({ length: limits.suspendedQueuePerTenantMax }, ask));
    expect(here).toBe(limits.suspendConflicts);
    expect(suspended()).toHaveLength(1);
    expect(run('evil', 'good')).toMatchObject({ ok: true });
  });

  test('leave the next evaluation of the same policy whole', async () => {
    const { engine: made, clock } = engine();
    const ask = (id?: string) =>
      made.run('evil', { name: 'p', artifact: 'conflicting' }, { subject: id ? { id } : {} }, clock.now());
    expect(failureOf(await ask('a'))).toBe('policy_conflict');
    expect(await ask()).toEqual({ ok: true, result: {}, fuelUsed: expect.any(Number) });
  });
});

describe('programs in memory', () => {
  test(`are ${limits.instancesMax}; who has many gives up its own and nobody else's`, async () => {
    const { engine: made, run, fetched } = engine();
    for (let n = 0; n < limits.instancesMax; n++) made.preload('greedy', `good-${n}`, wasm.good);
    expect(made.size).toBe(limits.instancesMax);
    expect(isHere(run('good', 'good'))).toBe(true);
    expect(isHere(run('greedy', `good-${limits.instancesMax - 1}`))).toBe(true);
    expect(await run('greedy', 'good-0')).toMatchObject({ ok: true });
    expect(fetched).toEqual(['good-0']);
    expect(made.size).toBe(limits.instancesMax);
  });

  test('are fetched once for all who wait', async () => {
    const { run, fetched } = engine();
    await Promise.all(Array.from({ length: 20 }, () => run('late', 'good')));
    expect(fetched).toEqual(['good']);
  });

  test('that are nowhere, or cannot be loaded, deny', async () => {
    const { run } = engine();
    expect(failureOf(await run('late', 'nowhere'))).toBe('policy_failed');
    expect(failureOf(await run('late', 'broken'))).toBe('policy_failed');
  });
});

test('over HTTP: the reasons of all of them, and a good policy of another tenant in between', async () => {
  const server = await createTestServer();
  const [evil, good] = [await server.tenant(), await server.tenant()];
  const put = async (tenant: string, name: string, rego: string) => {
    const authorization = `Bearer ${await server.member(tenant, 'config-editor')}`;
    const url = `/tenants/${tenant}/policies/${name}`;
    expect(
      (await server.app.inject({ method: 'PUT', url, headers: { authorization }, payload: { rego } })).json(),
    ).toEqual({});
  };
  const ask = async (tenant: string, action: string) => {
    const authorization = `Bearer ${await server.client(tenant, 'authz:evaluate')}`;
    const payload = { action, subject: { id: 'a' } };
    return (
      await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers: { authorization }, payload })
    ).json();
  };
  const sources = { looping, growing, conflicting, notQuiteLooping };
  for (const [name, source] of Object.entries(sources)) await put(evil, name, source);
  await put(good, 'fine', 'package a\noutcome := "allow"');
  const expected = {
    looping: 'policy_budget_exhausted',
    growing: 'policy_memory_exhausted',
    conflicting: 'policy_conflict',
    notQuiteLooping: 'outcome_undefined',
  };
  for (let round = 0; round < 4; round++) {
    for (const [name, reason] of Object.entries(expected)) {
      expect(await ask(evil, name)).toEqual({ outcome: 'deny', reason });
      expect(await ask(good, 'fine')).toEqual({ outcome: 'allow' });
    }
  }
  const suspended = server.observations.filter((one) => one.kind === 'policy_suspended').map((one) => one.policy);
  // What burns no more than half of the fuel is struck only where it takes long: a slow machine may do that.
  expect(suspended.filter((policy) => policy !== 'notQuiteLooping').sort()).toEqual(['growing', 'looping']);
});
