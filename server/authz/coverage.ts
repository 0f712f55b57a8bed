/** What the tests of a policy reach of it: lines of its Rego, or nodes of its drawing. */
import { type Static, Type } from 'typebox';
import { type Engine, instantOf, type PolicyGraph, type PolicyTest, parseResult, type Run } from '../policies/index.ts';
import { Coverage, coverageOf, coverageOfModules } from '../rego/index.ts';
import type { Explainer, Source } from './explain.ts';

export const TestCoverage = Type.Object({
  ...Type.Partial(Coverage).properties,
  ...{ coverage: Coverage.properties.coverage },
  allowReached: Type.Boolean({ description: 'Whether one of the evaluations was answered allow.' }),
  tests: Type.Integer({ description: 'How many tests were evaluated besides the input.' }),
  notEvaluated: Type.Optional(
    Type.Integer({ description: 'How many evaluations ended without a result: what they reached is not counted.' }),
  ),
  modules: Type.Optional(
    Type.Array(Type.Object({ module: Type.String(), ...Coverage.properties }), {
      description: 'The same of each module of libraries, of the lines that the policy can reach.',
    }),
  ),
  nodes: Type.Optional(
    Type.Object(
      { covered: Type.Array(Type.String()), notCovered: Type.Array(Type.String()) },
      { description: 'Of a drawn policy, in place of lines: the ids of its nodes.' },
    ),
  ),
});
export type TestCoverage = Static<typeof TestCoverage>;

type Asked = { tests: readonly PolicyTest[]; input: Record<string, unknown>; now: number };
type Reached = { runs: Run[]; allowReached: boolean; tests: number; notEvaluated?: number };

/**
 * Evaluates tests and an input apart from the main thread, one after another, and tells what they reached.
 * @returns undefined when the policy cannot be traced
 * @throws Problem policy_does_not_compile for a draft; compiler_busy, evaluator_busy, not_ready
 */
export function coverageOfTests(
  services: { engine: Engine; explainer: Explainer },
  tenant: string,
  source: Source,
  asked: Asked,
): Promise<TestCoverage | undefined> {
  return services.explainer.inTurn(tenant, () => coverageNow(services, tenant, source, asked));
}

async function coverageNow(
  services: { engine: Engine; explainer: Explainer },
  tenant: string,
  source: Source,
  asked: Asked,
): Promise<TestCoverage | undefined> {
  const { effectiveRego, graph } = source;
  const dependencies = await services.explainer.dependencies(tenant, source);
  const inputs = [...asked.tests.map(({ input }) => input), asked.input];
  const evaluateAll = async (
    evaluate: (input: Record<string, unknown>, now: number) => Promise<Run>,
  ): Promise<Reached> => {
    const runs: Run[] = [];
    for (const input of inputs) runs.push(await evaluate(input, instantOf(input, asked.now)));
    const failed = runs.filter((run) => !run.ok || (run.told && 'unavailable' in run.told)).length;
    const allowReached = runs.some((run) => run.ok && parseResult(run.result).answer.outcome === 'allow');
    return { runs, allowReached, tests: asked.tests.length, ...(failed > 0 ? { notEvaluated: failed } : {}) };
  };
  if (graph !== undefined) {
    const program = await services.explainer.program(tenant, effectiveRego, dependencies);
    const reached = await evaluateAll((input, now) =>
      services.engine.evaluateIsolated(tenant, { ...program, input, now, graph }),
    );
    return ofNodes(graph, reached);
  }
  const program = await services.explainer.traced(tenant, effectiveRego, dependencies);
  if (program === undefined) return undefined;
  const { runs, ...told } = await evaluateAll((input, now) =>
    services.engine.evaluateIsolated(tenant, { ...program, wanted: 'coverage', input, now }),
  );
  const reached = runs.flatMap((run) => (run.ok && run.told && 'reached' in run.told ? [run.told] : []));
  const spans = new Set(reached.flatMap((one) => one.reached));
  const modules = coverageOfModules(reached.map((one) => one.modules));
  return {
    ...coverageOf(program.traced.outline, spans),
    ...(modules.length > 0 ? { modules } : {}),
    ...told,
  };
}

function ofNodes(graph: PolicyGraph, { runs, ...told }: Reached): TestCoverage {
  const visited = new Set(runs.flatMap((run) => (run.ok ? (run.path ?? []) : [])));
  const ids = graph.nodes.map(({ id }) => id);
  const covered = ids.filter((id) => visited.has(id));
  const nodes = { covered, notCovered: ids.filter((id) => !visited.has(id)) };
  return { nodes, coverage: Math.round((1000 * covered.length) / ids.length) / 10, ...told };
}
