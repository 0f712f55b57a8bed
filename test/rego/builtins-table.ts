/** Running a table of Rego expressions, each in its own rule, and giving their values. */
import { expect, test } from 'vitest';
import { displayValue } from '../../server/rego/builtins/display.ts';
import { Instance } from '../../server/rego/evaluate.ts';
import { parseValue } from '../../server/rego/value.ts';
import { compileProgram, NOW } from './policies.ts';

/** A Rego expression and its value as JSON; `undefined` for Rego's undefined. Sets are arrays in Rego's order. */
export type Row = [expression: string, value: unknown];

/** Registers one test that evaluates all rows in one policy. Values are compared as texts, so that big integers count. */
export function testTable(name: string, rows: Row[]): void {
  test(name, async () => {
    const rules = rows.map(([expression], i) => `row["${i}"] := json.marshal(v) if v := ${expression}`);
    const program = await compileProgram(`${rules.join('\n')}\nobligations := row`);
    const { result } = new Instance(program).evaluate({}, { now: NOW, fuel: 100_000_000 });
    const got = (result as { obligations: Record<string, string> }).obligations;
    const texts = rows.map(([expression], i) => [expression, canonical(got[i])]);
    expect(texts).toEqual(rows.map(([expression, value]) => [expression, canonical(JSON.stringify(value))]));
  });
}

/** Rego's own text of a JSON value: keys in order, numbers as they were written. */
function canonical(json: string | undefined): string | undefined {
  return json === undefined ? undefined : displayValue({ charge() {} }, parseValue(json));
}

/** A JSON number that JavaScript cannot hold, for a Row. */
export function exactly(digits: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);
}
