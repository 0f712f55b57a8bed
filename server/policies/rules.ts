/** The policies room's rules, pure: names, which source counts, and whether a test's expectation is met. */
import { isDeepStrictEqual } from 'node:util';
import type { DataSubjects } from '../../crds/data-subjects.ts';
import { patterns, unstorable } from '../../crds/index.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import type { Answer } from './answer.ts';
import { checkGraph, graphToRego, type PolicyGraph } from './graph/index.ts';
import { policyProblem } from './problems.ts';

export type PolicyBody = { rego?: string; graph?: PolicyGraph; dataSubjects?: DataSubjects };

type Stated = { [Part in keyof PolicyBody]?: PolicyBody[Part] | null | undefined };

/** The policy itself, of a row or of a manifest's spec: without what is absent. */
export function statedBody({ rego, graph, dataSubjects }: Stated): PolicyBody {
  return {
    ...(typeof rego === 'string' ? { rego } : {}),
    ...(graph ? { graph } : {}),
    ...(dataSubjects ? { dataSubjects } : {}),
  };
}

/** One test of a policy: only the members named in `expect` are compared. */
export type PolicyTest = { name: string; input: Record<string, unknown>; expect: Partial<Answer> };

const NAME = new RegExp(patterns.policyName.source, 'u');

/** @throws Problem policy_name_invalid */
export function checkPolicyName(name: string): void {
  // HTTP clients resolve `.` and `..` away before a request leaves them.
  const dots = name === '.' || name === '..';
  if (dots || !NAME.test(name) || [...name].length > limits.policyNameCharsMax) {
    throw policyProblem('policy_name_invalid', {
      errors: [
        {
          pointer: '/params/policyName',
          detail: 'Use 1 to 253 printable characters without / ? # and \\, not . or ..',
        },
      ],
    });
  }
}

/**
 * What is evaluated: the graph converted to Rego when there is one, otherwise the Rego.
 * @throws Problem policy_without_source, policy_graph_invalid (naming the nodes), policy_does_not_compile when
 *   the Rego is too long, invalid_request for what cannot be stored
 */
export function effectiveRego(body: PolicyBody): string {
  const errors = unstorable('', body);
  if (errors.length > 0) throw problem('invalid_request', { detail: 'The policy cannot be stored.', errors });
  if (body.rego !== undefined) checkLength(body.rego);
  if (body.graph !== undefined) {
    const errors = checkGraph(body.graph);
    if (errors.length > 0) {
      throw policyProblem('policy_graph_invalid', {
        detail: errors.map((error) => error.detail).join('; '),
        errors: errors.map(({ pointer, detail }) => ({ pointer, detail })),
      });
    }
    return graphToRego(body.graph);
  }
  if (body.rego === undefined) throw policyProblem('policy_without_source');
  return body.rego;
}

export function checkLength(rego: string, what = 'The source'): void {
  const bytes = Buffer.byteLength(rego);
  if (bytes <= limits.regoSourceBytesMax) return;
  const detail = `${what} has ${bytes} bytes; ${limits.regoSourceBytesMax} are allowed.`;
  throw policyProblem('policy_does_not_compile', { detail, errors: [{ pointer: '/rego', detail }] });
}

/** The instant of an input that somebody made up: time.now_ns is input.time there too. @param now ms, when it has none */
export function instantOf(input: Record<string, unknown>, now: number): number {
  const instant = typeof input.time === 'string' ? Date.parse(input.time) : Number.NaN;
  return Number.isNaN(instant) ? now : instant;
}

/** What the answer differs in from what the test expects, or undefined when it meets it. Obligations are compared as sets. */
export function unmetExpectation(answer: Answer, expect: PolicyTest['expect']): string | undefined {
  for (const member of ['outcome', 'reason', 'obligations'] as const) {
    if (!(member in expect)) continue;
    const [got, wanted] = [answer[member], expect[member]].map((value) =>
      Array.isArray(value) ? [...value].sort() : value,
    );
    if (!isDeepStrictEqual(got, wanted))
      return `${member} is ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`;
  }
  return undefined;
}
