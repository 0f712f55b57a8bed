/** Hostile evaluations: each ends by its budget or memory, with nothing but PolicyError, and a good one works right after. */
import { RE2JS } from 're2js';
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { Instance, PolicyError } from '../../server/rego/evaluate.ts';
import { attacks, costly } from './attacks.ts';
import { closeCompiler, compileProgram, NOW } from './policies.ts';

afterAll(closeCompiler);

/** What came of it: the kind of the error, `undefined`, or `defined`. */
function outcomeOf(instance: Instance, input: unknown): string {
  try {
    const { result } = instance.evaluate(input, { now: NOW });
    return 'obligations' in (result as object) ? 'defined' : 'undefined';
  } catch (error) {
    if (error instanceof PolicyError) return error.kind;
    throw error;
  }
}

describe('ends by itself', () => {
  test.for(attacks)('%s', async ([, expression, input, kinds], { annotate }) => {
    const program = await compileProgram(
      `obligations := x if {\n\tnot input.good\n\tx := ${expression}\n}\nobligations := "fine" if input.good`,
    );
    const started = process.cpuUsage();
    const outcome = outcomeOf(new Instance(program), input);
    const { user, system } = process.cpuUsage(started);
    await annotate(`${outcome} after ${((user + system) / 1000).toFixed(0)} ms of CPU`);
    expect(kinds).toContain(outcome);
    expect(new Instance(program).evaluate({ good: true }, { now: NOW }).result).toEqual({ obligations: 'fine' });
  });
});

describe('is charged for its work', () => {
  test.for(costly)('%s', async ([, expression, input, fuelLeast]) => {
    const instance = new Instance(await compileProgram(`obligations := ${expression}`));
    expect(fuelOf(instance, input)).toBeGreaterThanOrEqual(fuelLeast);
  });
});

/** The fuel that an evaluation took; all of it when it ended for lack of it, or for a result that is too large. */
function fuelOf(instance: Instance, input: unknown): number {
  try {
    return instance.evaluate(input, { now: NOW }).fuelUsed;
  } catch (error) {
    if (error instanceof PolicyError && (error.kind === 'budget' || error.kind === 'memory'))
      return limits.evaluateFuel;
    throw error;
  }
}

test('json.patch cannot put a value inside itself', async () => {
  const program = await compileProgram(
    'obligations := json.patch({"s": {{"k": 1}}}, [{"op": "copy", "from": "", "path": ["s", {"k": 1}, "x"]}])',
  );
  const { result } = new Instance(program).evaluate({}, { now: NOW });
  expect(result).toEqual({ obligations: { s: [{ k: 1, x: { s: [{ k: 1 }] } }] } });
});

test('time zones are kept for a few dozen names only: more are paid for each time', async () => {
  const program = await compileProgram('obligations := [d | some zone in input; d := time.date([0, zone])]');
  const zones = Intl.supportedValuesOf('timeZone').slice(0, 100);
  for (let i = 0; i < 2; i++) expect(fuelOf(new Instance(program), zones)).toBeGreaterThan(zones.length * 1500);
});

test('a regular expression of limits.regexInstructionsMax is run, and no larger one', async () => {
  const nested = `b*${'((a{10}){10}){10}'.repeat(8)}`; // one count for all would cost more fuel than there is
  const room = limits.regexInstructionsMax - RE2JS.compile(nested).programSize();
  const program = await compileProgram('obligations := regex.split(input, "x")');
  expect(outcomeOf(new Instance(program), nested + 'a'.repeat(room))).toBe('defined');
  expect(outcomeOf(new Instance(program), nested + 'a'.repeat(room + 1))).toBe('memory');
});

test('string doubling', async () => {
  const steps = Array.from({ length: 30 }, (_, i) => `s${i + 1} := concat("", [s${i}, s${i}])`);
  const program = await compileProgram(`s0 := input.s\n${steps.join('\n')}\nobligations := count(s30)`);
  expect(['budget', 'memory']).toContain(outcomeOf(new Instance(program), { s: 'aaaaaaaaaaaaaaaa' }));
});

test('a conflict 5,000 times, with a new instance each time', async () => {
  const program = await compileProgram('obligations := 1 if input.a\nobligations := 2 if input.b');
  let instance = new Instance(program);
  for (let i = 0; i < 5000; i++) {
    if (outcomeOf(instance, { a: true, b: true }) !== 'conflict') throw new Error(`not a conflict the ${i}th time`);
    instance = new Instance(program);
  }
  expect(instance.evaluate({ a: true }, { now: NOW }).result).toEqual({ obligations: 1 });
});

test('as many instances as are kept can be alive', async () => {
  const program = await compileProgram('obligations := input');
  const instances = Array.from({ length: limits.instancesMax }, () => new Instance(program));
  for (const [i, instance] of instances.entries())
    expect(instance.evaluate(i, { now: NOW }).result).toEqual({ obligations: i });
});
