/** The compiled Rego of drawn policies, evaluated by the service's own engine, against the interpreter. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { checkGraph, graphToRego, interpretGraph, type PolicyGraph } from '../../../server/policies/graph/index.ts';
import type { Condition } from '../../../server/policies/graph/schema.ts';
import { type Compiled, createCompiler, hostBuiltinNames, Instance, loadProgram } from '../../../server/rego/index.ts';
import { oneTest } from '../../helpers/drawn.ts';
import { drawn } from '../../helpers/long.ts';
import { seed } from '../../helpers/seed.ts';
import { graphs, inputs } from './arbitraries.ts';
import { conditionCases } from './condition-cases.ts';
import { goldenGraphs, ladder } from './examples.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

async function compile(graph: PolicyGraph): Promise<Compiled> {
  const source = graphToRego(graph);
  const result = await compiler.compile('acme', source, { builtins: hostBuiltinNames });
  if (!result.ok) throw new Error(`${JSON.stringify(result.errors)}\n${source}`);
  return result;
}

const run = (instance: Instance, input: unknown) => instance.evaluate(input, { now: 0n }).result;

function interpreted(graph: PolicyGraph, input: unknown) {
  const { path: _, ...decision } = interpretGraph(graph, input);
  return decision;
}

/** One module for all cases: each case has its own way in, chosen by `context.case`, which no case uses. */
test('each case of each condition', async () => {
  const batch = 20;
  for (let first = 0; first < conditionCases.length; first += batch) {
    const cases = conditionCases.slice(first, first + batch);
    const graph = oneTest([]);
    graph.nodes.splice(1, 1);
    graph.edges = [{ from: 'start', to: 'is0' }];
    for (const [index, { condition }] of cases.entries()) {
      const chosen: Condition = { type: 'attribute', path: 'context.case', operator: 'eq', value: index };
      graph.nodes.push({ id: `is${index}`, type: 'condition', conditions: [chosen] });
      graph.nodes.push({ id: `case${index}`, type: 'condition', conditions: [condition] });
      graph.edges.push(
        { from: `is${index}`, to: `case${index}`, on: 'true' },
        ...(index + 1 < cases.length ? [{ from: `is${index}`, to: `is${index + 1}`, on: 'false' as const }] : []),
        { from: `case${index}`, to: 'yes', on: 'true' },
        { from: `case${index}`, to: 'no', on: 'false' },
      );
    }
    expect(checkGraph(graph)).toEqual([]);
    const instance = new Instance(loadProgram((await compile(graph)).wasm));
    const titles = cases.map(({ title, is }) => `${title}: ${is ? 'allow' : 'deny'}`);
    const answers = cases.map(({ title, input }, index) => {
      const { context, ...rest } = input as { context?: object };
      const answer = run(instance, { ...rest, context: { ...context, case: index } }) as { outcome: string };
      return `${title}: ${answer.outcome}`;
    });
    expect(answers).toEqual(titles);
  }
});

test('graphs whose Rego is kept compile, and agree on an empty input', async () => {
  for (const graph of Object.values(goldenGraphs)) {
    const instance = new Instance(loadProgram((await compile(graph)).wasm));
    expect(run(instance, {})).toEqual(interpreted(graph, {}));
  }
});

test('the Rego is laid out as opa fmt would', async () => {
  for (const graph of Object.values(goldenGraphs)) {
    const source = graphToRego(graph);
    expect(await compiler.format('acme', source)).toEqual({ ok: true, source });
  }
});

test('random graphs and inputs', async () => {
  process.stdout.write(`random graphs: seed ${seed}\n`);
  const samples = fc.array(inputs, { minLength: 60, maxLength: 60, size: 'max' });
  const property = fc.asyncProperty(graphs, samples, async (graph, list) => {
    expect(checkGraph(graph)).toEqual([]);
    const instance = new Instance(loadProgram((await compile(graph)).wasm));
    for (const input of list) expect(run(instance, input)).toEqual(interpreted(graph, input));
  });
  await fc.assert(property, { seed, numRuns: drawn(25, 80) });
});

test('as many nodes as a graph may have are within the budgets of compiling and evaluating', async () => {
  const graph = ladder(limits.graphNodesMax / 2 - 2);
  const instance = new Instance(loadProgram((await compile(graph)).wasm));
  const { result, fuelUsed } = instance.evaluate({ context: {} }, { now: 0n });
  expect(result).toEqual({ outcome: 'allow' });
  expect(fuelUsed).toBeLessThan(limits.evaluateFuel / 100);
});
