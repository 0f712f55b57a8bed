/**
 * Why a drawn policy did not allow: each condition node on the way that was taken from which another way leads to an
 * outcome that allows, with the conditions that decided its answer.
 */
import { limits } from '../../core/limits.ts';
import {
  type Consenting,
  type FailedCondition,
  factsOf,
  inputWith,
  type Lack,
  possibleFactsOf,
  shownValue,
  type WhyNot,
  type WhyNotRule,
} from '../../rego/index.ts';
import { at, holds, interpretGraph } from './interpret.ts';
import type { Condition, GraphNode, PolicyGraph } from './schema.ts';

/** Facts that are tried together for one node. */
const ROUNDS_MAX = 4;

export function whyNotDrawn(graph: PolicyGraph, input: unknown, consenting: Consenting = {}): WhyNot {
  const { path } = interpretGraph(graph, input);
  const allowing = leadingToAllow(graph);
  const nodes = path.flatMap((id) => graph.nodes.filter((node) => node.id === id && node.type === 'condition'));
  const tries = { left: limits.whyNotTriesMax, consenting };
  const rules = nodes.flatMap((node) => {
    const answer = answerOf(node, input);
    const other = graph.edges.find(({ from, on }) => from === node.id && on === String(!answer))?.to;
    return other !== undefined && allowing.has(other) ? [ruleOf(graph, node, { answer, input, tries })] : [];
  });
  const most = limits.whyNotRulesMax;
  return { rules: rules.slice(0, most), ...(rules.length > most ? { truncated: true } : {}) };
}

/** The nodes from which some way leads to an outcome that allows. */
function leadingToAllow({ nodes, edges }: PolicyGraph): Set<string> {
  const found = new Set(nodes.filter(({ outcome }) => outcome === 'allow').map(({ id }) => id));
  for (const id of found) for (const { from, to } of edges) if (to === id) found.add(from);
  return found;
}

function answerOf({ conditions = [], match = 'all' }: GraphNode, input: unknown): boolean {
  const count = conditions.filter((condition) => holds(condition, input)).length;
  return { all: count === conditions.length, any: count > 0, none: count === 0 }[match];
}

type Tries = { left: number; readonly consenting: Consenting };

function ruleOf(
  graph: PolicyGraph,
  node: GraphNode,
  { answer, input, tries }: { answer: boolean; input: unknown; tries: Tries },
): WhyNotRule {
  const { id, match = 'all', conditions = [] } = node;
  // The answer would be the other one if these were otherwise.
  const wanted = (match === 'none') === answer;
  const deciding = conditions.filter((condition) => holds(condition, input) !== wanted);
  const told = deciding.length > 0 ? deciding : conditions;
  const lacks = wanted ? told.flatMap((condition) => lacksOf(condition, input)) : [];
  const facts = whatAllows(graph, input, match === 'any' ? lacks.slice(0, 1) : lacks, tries);
  return {
    ...{ node: id, text: `${match} of ${conditions.length}`, answer: answer ? 'true' : 'false' },
    conditions: told.map((condition) => conditionOf(condition, input, tries.consenting)),
    ...(facts === undefined ? {} : { wouldAllowIf: facts }),
  };
}

function conditionOf(condition: Condition, input: unknown, consenting: Consenting): FailedCondition {
  const lacks = holds(condition, input) ? [] : lacksOf(condition, input);
  const missing = lacks.flatMap((lack) => factsOf(lack, input, consenting));
  return {
    ...{
      text: textOf(condition),
      ...(JSON.stringify(condition).length > TEXT_CHARS_MAX ? {} : { drawn: condition }),
      values: pathsOf(condition).map((path) => shownValue(`input.${path}`, at(input, path) as never)),
    },
    ...(missing.length === 0 ? {} : { missing }),
  };
}

/** Its type, and the fields that it has. */
function textOf({ type, ...fields }: Condition): string {
  const parts = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [type, ...parts].join(', ').slice(0, TEXT_CHARS_MAX);
}

const TEXT_CHARS_MAX = 512;

function pathsOf(condition: Condition): string[] {
  switch (condition.type) {
    case 'attribute':
      return [condition.path, condition.valuePath].filter((path) => path !== undefined);
    case 'ipRange':
      return [condition.path ?? 'context.ip'];
    case 'time':
      return ['time'];
    case 'invitation':
      return ['invitation.status'];
    default:
      return [];
  }
}

/** What a condition looks for and does not find; of other types nothing that a fact could add. */
function lacksOf(condition: Condition, input: unknown): Lack[] {
  const needs = new Map<string, readonly unknown[]>();
  const need = (path: string, value: unknown) => {
    if (value !== undefined) needs.set(path, [value]);
  };
  if (condition.type === 'consent') {
    need('name', condition.name);
    need('sufficient', true);
    return [{ of: condition.whose === 'dataSubjects' ? 'dataSubjects' : 'consents', needs }];
  }
  if (condition.type !== 'relationship') return [];
  const { relationshipType, target, targetType, targetId } = condition;
  const toResource = (target ?? 'resource') === 'resource';
  need('relationshipType', relationshipType);
  need('to.type', toResource ? at(input, 'resource.type') : targetType);
  need('to.id', toResource ? at(input, 'resource.id') : targetId);
  return [{ of: 'subject', needs }];
}

/** The facts with which the graph allows: what the node lacks, and what the next ones lack then. */
function whatAllows(graph: PolicyGraph, input: unknown, lacks: readonly Lack[], tries: Tries) {
  let tried = [...lacks];
  for (let round = 0; round < ROUNDS_MAX && tried.length > 0 && tries.left-- > 0; round++) {
    const given = inputWith(input, tried, tries.consenting);
    const { outcome, path } = interpretGraph(graph, given);
    if (outcome === 'allow') return tried.flatMap((lack) => possibleFactsOf(lack, input, tries.consenting));
    const last = path
      .map((id) => graph.nodes.find((one) => one.id === id))
      .findLast((one) => one?.type === 'condition');
    if (last === undefined || last.match === 'none' || answerOf(last, given)) return undefined;
    const more = (last.conditions ?? []).filter((one) => !holds(one, given)).flatMap((one) => lacksOf(one, given));
    if (more.length === 0) return undefined;
    tried = [...tried, ...more];
  }
  return undefined;
}
