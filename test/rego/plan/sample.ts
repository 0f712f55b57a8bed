/** Policies of random rules: as many as compile, each reached by `input.case`. */
import fc from 'fast-check';
import { hostBuiltinNames } from '../../../server/rego/builtins/index.ts';
import type { Compiled, Compiler } from '../../../server/rego/schema.ts';
import { inputs, rules, shared } from './generate.ts';

const RULES = 16;
const INPUTS = 30;

/** `cases`: each rule's text with inputs that reach it. */
export type Sample = { source: string; compiled: Compiled; cases: { rule: string; inputs: object[] }[] };

/** So many policies, less those of which no rule compiles. */
export async function* samples(compiler: Compiler, seed: number, policies: number): AsyncGenerator<Sample> {
  const bodies = fc.sample(rules, { seed, numRuns: policies * RULES });
  for (let first = 0; first < bodies.length; first += RULES) {
    const sources = bodies
      .slice(first, first + RULES)
      .map(({ value, body }, index) => `obligations := {"is": ${value}} if { input.case == ${index}; ${body} }`);
    const made = await compileSome(compiler, sources);
    if (made !== undefined)
      yield { ...made, cases: made.rules.map((rule) => ({ rule, inputs: inputsOf(rule, seed) })) };
  }
}

function inputsOf(rule: string, seed: number): object[] {
  const chosen = Number(/input\.case == (\d+)/.exec(rule)?.[1]);
  return fc.sample(inputs, { seed: seed + chosen, numRuns: INPUTS }).map((input) => ({ ...input, case: chosen }));
}

/** Rules with errors are dropped by the lines of the errors. */
async function compileSome(compiler: Compiler, sources: readonly string[]) {
  let left = [...sources];
  while (left.length > 0) {
    const lines = left.map((body) => body.replaceAll('\n\t', '; '));
    const source = `package t\n${lines.join('\n')}\n${shared}`;
    const result = await compiler.compile('t', source, { builtins: hostBuiltinNames });
    if (result.ok) return { source, compiled: result, rules: left };
    const wrong = new Set(result.errors.map(({ row }) => row - 2));
    const kept = left.filter((_, index) => !wrong.has(index));
    if (kept.length === left.length) return undefined;
    left = kept;
  }
  return undefined;
}
