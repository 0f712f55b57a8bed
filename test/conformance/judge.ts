/** Running one conformance case through our instrumenter and host, and saying how it went. */
import { limits } from '../../server/core/limits.ts';
import { Instance, loadProgram, PolicyError } from '../../server/rego/evaluate.ts';
import { instrument } from '../../server/rego/instrument.ts';
import type { Case } from './case-stream.ts';
import { judgePlan, type PlanVerdict } from './plan-path.ts';

/**
 * `pass`: the same result, or the same but for the order of sets; `undefined`: an error that only strict mode shows, so
 * that the result is undefined, as OPA's own Wasm tests expect; the others do not pass.
 */
export type Outcome = 'pass' | 'undefined' | 'unsupported' | 'fail' | 'compile-error';
export type Verdict = { outcome: Outcome; detail: string };

const NOW = 1_700_000_000_000_000_000n;

/** `plan` is absent where there is no Wasm to agree with. */
export function judge(test: Case): Verdict & { plan?: PlanVerdict } {
  if (test.wasmBytes === 0)
    return test.wantError ? pass : { outcome: 'compile-error', detail: test.compileError ?? '' };
  let resultSet: Record<string, unknown>[];
  try {
    const wasm = instrument(test.wasm, { memoryPages: limits.evaluateMemoryPages, fuel: limits.evaluateFuel });
    resultSet = new Instance(loadProgram(wasm), test.data).query(test.input, { now: NOW }).resultSet;
  } catch (error) {
    const verdict = judgeError(test, error);
    if (!(error instanceof PolicyError) || verdict.outcome === 'unsupported') return verdict;
    return { ...verdict, plan: judgePlan(test, { error: error.kind }, NOW) };
  }
  return { ...judgeResult(test, resultSet), plan: judgePlan(test, { resultSet }, NOW) };
}

function judgeResult(test: Case, resultSet: Record<string, unknown>[]): Verdict {
  if (test.wantDefined !== undefined)
    return test.wantDefined === resultSet.length > 0 ? pass : failed(`defined: ${resultSet.length > 0}`);
  if (test.wantResult !== undefined)
    return sameResults(resultSet, test.wantResult)
      ? pass
      : failed(`got ${show(resultSet)}, not ${show(test.wantResult)}`);
  if (!test.wantError) return failed('the case expects nothing');
  return test.strict && resultSet.length === 0
    ? { outcome: 'undefined', detail: '' }
    : failed(`got ${show(resultSet)}, not the error ${test.wantCode}`);
}

const pass: Verdict = { outcome: 'pass', detail: '' };

function failed(detail: string): Verdict {
  return { outcome: 'fail', detail };
}

function judgeError(test: Case, error: unknown): Verdict {
  if (!(error instanceof PolicyError)) return failed(`threw something else: ${String(error)}`);
  const missing = /^the policy calls (\S+), which is not supplied here$/.exec(error.message)?.[1];
  if (missing !== undefined) return { outcome: 'unsupported', detail: missing };
  if (test.wantCode === 'eval_conflict_error' && error.kind === 'conflict') return pass;
  if (test.wantError && !test.strict && error.kind === 'internal') return pass;
  return failed(`${error.kind}: ${error.message}`);
}

function show(value: unknown): string {
  return JSON.stringify(value).slice(0, 160);
}

/** Result sets are sets of bindings; arrays in them may come from sets, which JSON cannot tell. */
function sameResults(got: unknown, want: unknown): boolean {
  return sameArray(got as unknown[], want as unknown[], true);
}

function same(got: unknown, want: unknown): boolean {
  if (Array.isArray(got) && Array.isArray(want)) return sameArray(got, want, false);
  if (typeof got !== 'object' || typeof want !== 'object' || got === null || want === null) return got === want;
  if (Array.isArray(got) || Array.isArray(want)) return false;
  const [a, b] = [got as Record<string, unknown>, want as Record<string, unknown>];
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/** In order; or, when `want` could be a set (written in Rego's order; [] and set() look equal), in any order. */
function sameArray(got: unknown[], want: unknown[], unordered: boolean): boolean {
  if (got.length !== want.length) return false;
  if (got.every((item, i) => same(item, want[i]))) return true;
  if (!unordered && !want.every((item, i) => i === 0 || compare(want[i - 1], item) <= 0)) return false;
  const left = [...want];
  return got.every((item) => {
    const at = left.findIndex((other) => same(item, other));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** Rego's order of JSON values: null < boolean < number < string < array < object. */
function compare(a: unknown, b: unknown): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (Array.isArray(a)) return compareLists(a, b as unknown[]);
  if (typeof a === 'object' && a !== null) return compareLists(members(a), members(b as object));
  const [x, y] = [a as string, b as string];
  return x < y ? -1 : x > y ? 1 : 0;
}

function rankOf(value: unknown): number {
  if (value === null) return 0;
  if (Array.isArray(value)) return 4;
  return ['boolean', 'number', 'string', '', 'object'].indexOf(typeof value) + 1;
}

function members(object: object): unknown[] {
  return Object.entries(object)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flat();
}

function compareLists(a: unknown[], b: unknown[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compare(a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
