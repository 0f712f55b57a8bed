/** Evaluation off the main thread: a bounded queue, a timer that spares starting, and lost workers that are nobody's fault. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { refusalOf } from '../../operator/reasons.ts';
import { systemClock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import { checkPolicy, Engine, type PolicyTest } from '../../server/policies/index.ts';
import { IsolatedEvaluator } from '../../server/policies/isolated-evaluator.ts';
import { runTests } from '../../server/policies/tests.ts';
import { createCompiler, hostBuiltinNames } from '../../server/rego/index.ts';
import { closeAtEnd } from '../helpers/closing.ts';

const directory = mkdtempSync(join(tmpdir(), 'accord-apart-'));
const compiler = createCompiler({ workers: 1, observe: () => {} });
afterAll(async () => {
  await compiler.close();
  rmSync(directory, { recursive: true });
});
const compiled = await compiler.compile('t', 'package a\noutcome := input.say', {
  builtins: hostBuiltinNames,
  explain: false,
});
if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors));
const { wasm } = compiled;

const worker = new URL('../../server/policies/isolated-worker.ts', import.meta.url).href;

/** An engine whose worker runs `before`, and then is the real one. */
function engine(before = '') {
  const file = join(directory, `${crypto.randomUUID()}.mjs`);
  writeFileSync(file, `${before}\nawait import(${JSON.stringify(worker)});\n`);
  const made = new Engine({
    ...{ clock: systemClock, observe: () => {}, fetch: async () => undefined },
    isolated: new IsolatedEvaluator(pathToFileURL(file)),
  });
  closeAtEnd(() => made.close());
  const run = (tenant: string, say: unknown) =>
    made.evaluateIsolated(tenant, { key: 'k', wasm, input: { say }, now: systemClock.now() });
  return { engine: made, run };
}
const tests: PolicyTest[] = [{ name: 'allows', input: { say: 'allow' }, expect: { outcome: 'allow' } }];
const program = { tenant: 't', key: 'k', wasm };

test(`${limits.isolatedPatientPerTenantMax} of a tenant may wait (isolatedPatientPerTenantMax); the next is told to try again`, async () => {
  const { run } = engine();
  // One is with the worker already.
  const fitting = Array.from({ length: limits.isolatedPatientPerTenantMax + 1 }, (_, n) => run('many', n));
  await expect(run('many', 'late')).rejects.toMatchObject({
    ...{ code: 'evaluator_busy', status: 429, headers: { 'retry-after': '1' } },
  });
  expect(await run('other', 'x')).toMatchObject({ ok: true, result: { outcome: 'x' } });
  expect((await Promise.all(fitting)).map((one) => one.ok)).toEqual(fitting.map(() => true));
  expect(await run('many', 'again')).toMatchObject({ ok: true });
});

describe('a worker', () => {
  test('that takes longer to start than an evaluation may last does not fail it', async () => {
    const { engine: made } = engine(
      // A worker that takes long: nobody can tell it that its time is over.
      `await new Promise((resolve) => setTimeout(resolve, ${limits.isolatedTimeoutMs} + 500));`,
    );
    await runTests(made, program, tests, 0);
  });

  test.each([
    ['ends', 'process.exit(3);'],
    [
      'goes on longer than isolatedTimeoutMs',
      `parentPort.on('message', ({ id }) => { parentPort.postMessage({ id, started: true }); for (;;); });`,
    ],
  ])('that %s once is replaced, and the evaluation tried again', async (_, first) => {
    const marker = JSON.stringify(join(directory, crypto.randomUUID()));
    const { engine: made } = engine(`import { existsSync, mkdirSync } from 'node:fs';
      import { parentPort } from 'node:worker_threads';
      if (!existsSync(${marker})) { mkdirSync(${marker}); ${first} }`);
    await runTests(made, program, tests, 0);
    // Tests that do fail are told as ever.
    await expect(runTests(made, program, [{ name: 'no', input: {}, expect: { outcome: 'allow' } }], 0)).rejects.toThrow(
      'no: outcome is "deny"',
    );
  });

  test.each([
    ['throws', `throw new Error('no memory');`],
    ['exits', 'process.exit(1);'],
  ])('that %s whenever it starts is not the fault of a manifest: it is tried again', async (_, before) => {
    const { engine: made, run } = engine(before);
    const error = await runTests(made, program, tests, 0).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'not_ready', status: 503 });
    expect(refusalOf(error)).toBeUndefined();
    // And nobody waits forever for it.
    const runs = await Promise.allSettled(Array.from({ length: 3 }, (_, n) => run(`t${n}`, n)));
    expect(runs.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});

test('an engine that was closed leaves nobody waiting', async () => {
  const { engine: made, run } = engine();
  const waiting = [run('a', 1), run('a', 2)].map((one) => one.catch((error) => error.code));
  await made.close();
  expect(await Promise.all([...waiting, run('a', 3).catch((error) => error.code)])).toEqual(Array(3).fill('not_ready'));
});

test("a compiler that does not get the CPU is busy, and that is not the policy's fault", async () => {
  const starved = createCompiler({ bounds: { cpuMs: limits.compileCpuMsMax, waitMs: 1 } });
  closeAtEnd(() => starved.close());
  const rules = Array.from({ length: 500 }, (_, i) => `else := "deny" if input.a == ${i}`).join('\n');
  const rego = `package a\noutcome := "allow" if input.a == -1\n${rules}`;
  const error = await checkPolicy({ compiler: starved, engine: engine().engine }, 'p', { rego }, [], 0).catch(
    (one) => one,
  );
  expect(error).toMatchObject({ code: 'compiler_busy', headers: { 'retry-after': '5' } });
  expect(refusalOf(error)).toBeUndefined(); // so the operator tries it again
});
