/**
 * A tenant's share of the main thread: slow evaluations, and programs that are loaded past a tenant's share, go to the
 * worker while other tenants want the main thread, and are answered there as they would be here.
 */
import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { FairScheduler } from '../../server/core/fair-scheduler.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { Engine } from '../../server/policies/index.ts';
import { IsolatedEvaluator } from '../../server/policies/isolated-evaluator.ts';
import { StoredEvaluator } from '../../server/policies/stored-evaluator.ts';
import { type Code, createCompiler, hostBuiltinNames, packCode } from '../../server/rego/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';

const compiler = createCompiler();
const engines: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await compiler.close();
  for (const made of engines) await made.close();
});

async function compile(source: string): Promise<Code & { plan: string }> {
  const result = await compiler.compile('shares', source, { builtins: hostBuiltinNames });
  if (!result.ok || result.plan === undefined) throw new Error(JSON.stringify(result));
  return { wasm: result.wasm, plan: result.plan };
}

/** The Wasm counts each character that it compares, and would exhaust its budget here; the plan does not. */
const part = `part := "${'x'.repeat(1000)}"`;
const long = (name: string) => `${name} := [concat("", [${Array(30).fill('part').join(',')}])]`;
const code = await compile(
  `package a\n${part}\n${long('left')}\n${long('right')}
  outcome := input.say if { some i in numbers.range(1, 100); left == right; i == 100 }`,
);
const packed = packCode(code);
const looping = await compile('package a\noutcome := "allow" if { some i in numbers.range(1, 9e6); i == 0 }');

/**
 * An engine on a clock, of time and of CPU time, that goes on by `state.evaluateMs` while an input is read for an evaluation,
 * and by `state.loadMs` while a program is loaded.
 */
function engine(given: { loadMs?: number } = {}, isolated = new IsolatedEvaluator()) {
  const clock = new TestClock();
  const state = { evaluateMs: 0, loadMs: 0, fetchedApart: 0, ...given };
  const observations: Observation[] = [];
  const scheduler = new FairScheduler(clock);
  const codeOf = (digest: string) => (digest.startsWith('looping') ? looping : code);
  const made = new Engine({
    ...{ clock, cpuMs: clock.monotonic, scheduler, isolated, observe: (one: Observation) => observations.push(one) },
    fetch: async (_, digest) => ({
      wasm: code.wasm,
      get plan() {
        clock.advance(state.loadMs);
        return codeOf(digest).plan;
      },
    }),
    fetchPacked: async (_, digest) => {
      state.fetchedApart++;
      return digest.startsWith('looping') ? looping : packed;
    },
  });
  engines.push(made);
  const run = (artifact: string, tenant = 'busy') => {
    let ms = state.evaluateMs;
    const input = {
      get say() {
        clock.advance(ms);
        ms = 0;
        return 'allow';
      },
    };
    return made.run(tenant, { name: artifact, artifact }, input, Math.floor(clock.now()));
  };
  const share = async () => {
    for (const tenant of ['busy', 'other']) scheduler.enter(tenant, () => {});
    for (let n = 0; n < 3; n++) await immediate();
    expect(scheduler.isShared).toBe(true);
    clock.advance(limits.turnAwaitedMs); // long work does not wait for the other one
  };
  return { engine: made, clock, scheduler, state, run, share, observations };
}

const allowed = { ok: true, result: { outcome: 'allow' } };

describe('a slow policy', () => {
  async function slow(ms: number) {
    const made = engine();
    made.engine.preload('busy', 'p', code);
    made.state.evaluateMs = ms;
    // The first one only has those after it measured by CPU time.
    for (const _ of [1, 2, 3]) expect(await made.run('p')).toMatchObject(allowed);
    made.state.evaluateMs = 0;
    return made;
  }

  test('is evaluated in the worker past evaluateSlowMs, and not at it, while others want the main thread', async () => {
    for (const [ms, apart] of [
      [limits.evaluateSlowMs, 0],
      [limits.evaluateSlowMs + 0.01, 1],
    ] as const) {
      const { run, share, state } = await slow(ms);
      await share();
      expect(await run('p')).toMatchObject(allowed);
      expect(state.fetchedApart).toBe(apart);
    }
  });

  test('stays on the main thread while its tenant is alone', async () => {
    const { run, state } = await slow(limits.evaluateSlowMs + 5);
    for (let n = 0; n < 5; n++) expect(await run('p')).toMatchObject(allowed);
    expect(state.fetchedApart).toBe(0);
  });

  test('is slow when more than one in sixteen evaluations is: the others met the collector of garbage', async () => {
    const { engine: made, run, share, state } = engine();
    made.preload('busy', 'p', code);
    for (let n = 0; n < 5 * 17; n++) {
      state.evaluateMs = n % 17 === 0 ? limits.evaluateSlowMs + 5 : 0;
      expect(await run('p')).toMatchObject(allowed);
    }
    await share();
    expect(await run('p')).toMatchObject(allowed);
    expect(state.fetchedApart).toBe(0);
  });

  test('comes back evaluateSlowForMs after it was slow last', async () => {
    for (const [early, apart] of [
      [0.01, 1],
      [0, 0],
    ] as const) {
      const { run, share, state, clock } = await slow(limits.evaluateSlowMs + 5);
      clock.advance(limits.evaluateSlowForMs - limits.turnAwaitedMs - early);
      await share();
      expect(await run('p')).toMatchObject(allowed);
      expect(state.fetchedApart).toBe(apart);
    }
  });

  test(`is never denied for it: ${limits.isolatedPatientPerTenantMax} wait, the next is told to try again`, async () => {
    const { run, share } = await slow(limits.evaluateSlowMs + 5);
    await share();
    const fitting = Array.from({ length: limits.isolatedPatientPerTenantMax + 1 }, () => run('p'));
    await expect(run('p')).rejects.toMatchObject({ code: 'evaluator_busy', status: 429 });
    for (const one of await Promise.all(fitting)) expect(one).toMatchObject(allowed);
  });

  test('that does exhaust its budget there is counted, and suspended', async () => {
    const { run, share, observations, state } = engine({ loadMs: limits.stallBurstMs + 1 });
    expect(await run('p')).toMatchObject(allowed);
    await share();
    for (let strike = 0; strike < limits.suspendStrikes; strike++)
      expect(await run('looping')).toMatchObject({ ok: false, failure: 'policy_budget_exhausted' });
    expect(state.fetchedApart).toBe(1);
    expect(observations.filter(({ kind }) => kind === 'policy_suspended')).toMatchObject([{ policy: 'looping' }]);
  });
});

describe('a policy whose evaluations are lost with the worker, twice each time', () => {
  /** An engine that leaves what is not loaded to a worker of this code. */
  async function losing(worker: string) {
    const file = new URL(`data:text/javascript,${encodeURIComponent(worker)}`);
    const made = engine({ loadMs: limits.stallBurstMs + 1 }, new IsolatedEvaluator(file));
    expect(await made.run('p')).toMatchObject(allowed);
    await made.share();
    for (let strike = 0; strike < limits.suspendStrikes; strike++)
      await expect(made.run('lost')).rejects.toMatchObject({ code: 'not_ready', status: 503 });
    return made;
  }

  test('is suspended, and denied then', async () => {
    const { run, observations } = await losing(`import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ id }) => {
        parentPort.postMessage({ id, started: true });
        process.exit(3);
      });`);
    expect(observations.filter(({ kind }) => kind === 'policy_suspended')).toMatchObject([{ policy: 'lost' }]);
    expect(await run('lost')).toMatchObject({ ok: false, failure: 'policy_failed' });
  });

  test('is not, when no evaluation began: the worker does not start', async () => {
    const { run, observations } = await losing('process.exit(3);');
    expect(observations).toEqual([]);
    await expect(run('lost')).rejects.toMatchObject({ code: 'not_ready' });
  });
});

describe('loading programs', () => {
  test('past stallBurstMs, and not at it, is left to the worker, and nobody else pays for it', async () => {
    const { engine: made, run, share, state } = engine({ loadMs: limits.stallBurstMs });
    expect(await run('p1')).toMatchObject(allowed);
    await share();
    state.loadMs = 0.5;
    expect(await run('p2')).toMatchObject(allowed);
    expect(made.size).toBe(2);
    expect(await run('p3')).toMatchObject(allowed);
    expect([made.size, state.fetchedApart]).toEqual([2, 1]);
    expect(await run('p4', 'other')).toMatchObject(allowed);
    expect([made.size, state.fetchedApart]).toEqual([3, 1]);
  });

  test('goes on at stallPercent of the time', async () => {
    const { engine: made, run, share, clock } = engine({ loadMs: limits.stallBurstMs + 10 });
    expect(await run('p1')).toMatchObject(allowed);
    clock.advance((10 * 100) / limits.stallPercent - limits.turnAwaitedMs - 1);
    await share();
    expect(await run('p2')).toMatchObject(allowed);
    expect(made.size).toBe(1);
    clock.advance(1);
    expect(await run('p3')).toMatchObject(allowed);
    expect(made.size).toBe(2);
  });

  test('goes on for a tenant that is alone', async () => {
    const { engine: made, run } = engine({ loadMs: limits.stallBurstMs + 10 });
    for (const name of ['p1', 'p2', 'p3']) expect(await run(name)).toMatchObject(allowed);
    expect(made.size).toBe(3);
  });
});

test('the worker keeps programs of isolatedProgramBytesMax, and is given those past it again', async () => {
  const isolated = new IsolatedEvaluator();
  engines.push(isolated);
  const padded = (bytes: number) => ({ ...code, plan: code.plan.padEnd(bytes - code.wasm.byteLength, ' ') });
  let fetched = 0;
  const stored = new StoredEvaluator(isolated, {
    fetch: async (_, artifact) => {
      fetched++;
      return padded(limits.isolatedProgramBytesMax + (artifact === 'fits' ? 0 : 1));
    },
    fetchDocuments: async () => [],
  });
  const ask = (artifact: string) => stored.evaluate('t', { artifact }, { input: { say: 'allow' }, now: 0n });
  for (const _ of [1, 2]) expect(await ask('fits')).toMatchObject(allowed);
  expect(fetched).toBe(1);
  for (const _ of [1, 2]) expect(await ask('larger')).toMatchObject(allowed);
  expect(fetched).toBe(3);
});
