/** Random policies on random relationships: what the whole input gives and what the input that was narrowed gives are the same. */
import { afterAll, expect, test } from 'vitest';
import { createCompiler, Evaluator, hostBuiltinNames, PolicyError } from '../../../server/rego/index.ts';
import type { GraphTerm, GraphUse } from '../../../server/rego/schema.ts';
import { names, nodeTypes, random } from '../../facts/graphs.ts';
import { randomPolicy } from '../../facts/policies.ts';
import { drawn } from '../../helpers/long.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

const POLICIES = drawn(60, 200);
const INPUTS = 60;
let narrowed = 0;

type Entity = { type: string; id: string };
type Entry = { type: string; relationshipType: string; to?: Entity; from?: Entity };
type Input = { subject: Entity; resource: Entity; graph: { subject: Entry[]; resource: Entry[] } };

function randomInput(below: (n: number) => number): Input {
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T;
  const entity = () => ({ type: pick(nodeTypes), id: `${below(4)}` });
  const entries = (far: 'to' | 'from') =>
    Array.from({ length: below(6) }, () => {
      const name = pick(names);
      return { type: name, relationshipType: name, [far]: entity() };
    });
  return { subject: entity(), resource: entity(), graph: { subject: entries('to'), resource: entries('from') } };
}

function isSeen(uses: readonly GraphUse[] | undefined, input: Input, entry: Entry): boolean {
  const far = (entry.to ?? entry.from) as Entity;
  const is = (term: GraphTerm | undefined, text: string) =>
    term === undefined || text === ('literal' in term ? term.literal : input[term.of][term.member]);
  const all: readonly GraphUse[] = uses ?? [{}];
  return all.some((use) => (use.name ?? entry.type) === entry.type && is(use.type, far.type) && is(use.id, far.id));
}

test.each(Array.from({ length: POLICIES }, (_, seed) => seed))('policy %i', async (seed) => {
  const below = random(seed + 90_000);
  const rego = randomPolicy(below);
  const compiled = await compiler.compile('t', rego, { builtins: hostBuiltinNames });
  if (!compiled.ok || compiled.reads.all) throw new Error(`${rego}\n${JSON.stringify(compiled)}`);
  const { narrowing } = compiled.reads;
  const evaluator = new Evaluator(compiled);
  const answer = (input: Input) => {
    try {
      return evaluator.evaluate(input, { now: 0n }).result;
    } catch (error) {
      if (error instanceof PolicyError) return error.kind;
      throw error;
    }
  };
  for (let i = 0; i < INPUTS; i++) {
    const whole = randomInput(below);
    const { subject, resource } = whole.graph;
    const graph = {
      subject: subject.filter((entry) => isSeen(narrowing?.subject, whole, entry)),
      resource: resource.filter((entry) => isSeen(narrowing?.resource, whole, entry)),
    };
    narrowed += subject.length + resource.length - graph.subject.length - graph.resource.length;
    expect(answer({ ...whole, graph }), `${rego}\n${JSON.stringify(whole)}`).toEqual(answer(whole));
  }
});

test('many relationships were left out', () => {
  expect(narrowed).toBeGreaterThan(POLICIES * INPUTS);
});
