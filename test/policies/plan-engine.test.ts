/**
 * The engine with plans: decided by the plan, by the Wasm where there is none or the plan gives up, and policies that
 * loop, swallow memory or conflict are denied, counted and moved off the main thread as ever.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { Engine, type Run } from '../../server/policies/index.ts';
import { type Code, createCompiler, Evaluator, hostBuiltinNames } from '../../server/rego/index.ts';
import { conflicting, growing, looping } from '../authz/attacks.ts';
import { TestClock } from '../core/auth/test-clock.ts';

const compiler = createCompiler();
const engines: Engine[] = [];
afterAll(async () => {
  await compiler.close();
  for (const made of engines) await made.close();
});

async function compile(source: string): Promise<Code & { plan: string }> {
  const result = await compiler.compile('plans', source, { builtins: hostBuiltinNames });
  if (!result.ok || result.plan === undefined) throw new Error(JSON.stringify(result));
  return { wasm: result.wasm, plan: result.plan };
}

const codes = {
  looping: await compile(looping),
  growing: await compile(growing),
  conflicting: await compile(conflicting),
  good: await compile('package a\noutcome := "allow" if input.subject.id == "a"'),
  fraction: await compile('package a\noutcome := "allow" if input.n / 3 < 4'),
};

/** Wasm that traps when it is run: what is answered with it is answered by the plan. */
const noWasm = Uint8Array.of(0, 1, 2, 3);

function engine(stored: Record<string, Code> = codes) {
  const clock = new TestClock();
  const observations: Observation[] = [];
  const made = new Engine({
    ...{ clock, observe: (one: Observation) => observations.push(one) },
    fetch: async (_tenant, digest) => stored[digest],
  });
  engines.push(made);
  for (const [name, code] of Object.entries(codes)) made.preload('t', name, code);
  const run = (artifact: string, input: object = { subject: { id: 'a' } }, tenant = 't') =>
    made.run(tenant, { name: artifact, artifact }, input, clock.now());
  const suspended = () => observations.filter((one) => one.kind === 'policy_suspended').length;
  return { run, suspended };
}

const isHere = (run: Run | Promise<Run>): run is Run => !(run instanceof Promise);
const allowed = { ok: true, result: { outcome: 'allow' } };

describe('is decided', () => {
  test('by the plan: the Wasm is not even loaded', async () => {
    const { run } = engine({ stored: { wasm: noWasm, plan: codes.good.plan } });
    expect(await run('stored', undefined, 'other')).toMatchObject(allowed);
    expect(run('stored', undefined, 'other')).toMatchObject(allowed);
    expect(await run('stored', {}, 'other')).toMatchObject({ ok: true, result: {} });
  });

  test('by the Wasm where there is no plan, or one that is not run here', async () => {
    const unknown = codes.good.plan.replace('"equal"', '"resembles"');
    expect(unknown).not.toBe(codes.good.plan);
    for (const code of [{ wasm: codes.good.wasm }, { wasm: codes.good.wasm, plan: unknown }]) {
      expect(new Evaluator(code).runsPlan).toBe(false);
      expect(await engine({ stored: code }).run('stored', undefined, 'other')).toMatchObject(allowed);
    }
  });

  test('by the Wasm where the plan gives up, and only by it when that is the rule', () => {
    const evaluator = new Evaluator(codes.fraction);
    for (let i = 0; i < 20; i++) {
      expect(evaluator.evaluate({ n: 10 }, { now: 0n }).result).toEqual({ outcome: 'allow' });
      expect(evaluator.evaluate({ n: 300 }, { now: 0n }).result).toEqual({});
    }
    expect(evaluator.runsPlan).toBe(true);
    for (let i = 0; i < 20; i++)
      expect(evaluator.evaluate({ n: 10 }, { now: 0n }).result).toEqual({ outcome: 'allow' });
    expect(evaluator.runsPlan).toBe(false);
    expect(evaluator.evaluate({ n: 300 }, { now: 0n }).result).toEqual({});
  });

  test('not at all where neither can be loaded', async () => {
    const { run } = engine({ stored: { wasm: noWasm } });
    expect(await run('stored', undefined, 'other')).toMatchObject({ ok: false, failure: 'policy_failed' });
  });
});

describe('is denied, then moved off the main thread, where it is denied as before', () => {
  test.each([
    ['looping', 'policy_budget_exhausted', limits.suspendStrikes],
    ['growing', 'policy_memory_exhausted', limits.suspendStrikes],
    ['conflicting', 'policy_conflict', limits.suspendConflicts],
  ] as const)('%s', async (name, failure, strikes) => {
    const { run, suspended } = engine();
    for (let strike = 0; strike < strikes; strike++) {
      const here = run(name);
      if (isHere(here)) expect(here).toMatchObject({ ok: false, failure });
      else expect(await here).toMatchObject({ ok: false, failure });
    }
    expect(suspended()).toBe(1);
    const apart = run(name);
    expect(isHere(apart)).toBe(false);
    expect(await apart).toMatchObject({ ok: false, failure });
    expect(run('good')).toMatchObject(allowed);
  });
});
