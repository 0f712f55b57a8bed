/**
 * For relationships that a policy looked for and did not find: over which others they would be inherited, which of those are there,
 * and which are missing.
 */
import type { Actor } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import {
  type Facts,
  type FactsSource,
  type InheritedPath,
  type Needs,
  recordsOnly,
  type Step,
} from '../facts/index.ts';
import type { MissingFact, WhyNotRule } from '../rego/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import type { Inheritance } from '../types/index.ts';
import type { Evaluation } from './decide.ts';
import type { Explanation } from './explain.ts';

type End = { type: string; id?: string };
/** A relationship on a path; `missing`: it is not there. An end without id may be any of its type. */
export type PathStep = { from: End; relationshipType: string; to: End; missing?: true };
/** `leftOut`: how many more relationships the part that is there has than are told. */
export type MissingPath = { relationship: Step; through: PathStep[]; leftOut?: number };

type Services = {
  facts: FactsSource;
  /** What of the facts is shown; absent: all. */
  shown?: (facts: Facts) => Promise<Facts>;
};

/** An explanation that also tells them, where there are any. */
export async function withMissingPaths(
  services: Services,
  snapshot: TenantSnapshot,
  { tenant, now }: Evaluation,
  explain: Explanation,
): Promise<Explanation> {
  const { inheritances } = snapshot.types;
  if (explain.whyNot === undefined || inheritances.length === 0) return explain;
  const asked = missingOf(explain.whyNot.rules).flatMap((one) => {
    const ways = inheritances.filter(({ makes }) => makes === keyOf(one)).slice(0, limits.missingWaysMax);
    return ways.length === 0 ? [] : [{ one, ways }];
  });
  const found = await Promise.all(
    asked.slice(0, limits.missingRelationshipsMax).map(async ({ one, ways }) => {
      const query = { tenant, now, request: { subject: one.from, resource: one.to } };
      const facts = await services.facts.gather(snapshot, query, needsOf(ways));
      if (facts.denial !== undefined) return [];
      const shown = services.shown === undefined ? facts : await services.shown(facts);
      return pathsOf(one, ways, shown);
    }),
  );
  const missingPaths = found.flat();
  return missingPaths.length === 0 ? explain : { ...explain, missingPaths };
}

const keyOf = ({ from, relationshipType, to }: Step) => `${from.type}:${relationshipType}:${to.type}`;

/** Those whose both ends are known. */
function missingOf(rules: readonly WhyNotRule[]): Step[] {
  const found = new Map<string, Step>();
  const add = ({ relationship }: MissingFact) => {
    const { relationshipType, alternatives = [], from, to } = relationship ?? {};
    if (!isNamed(from) || !isNamed(to)) return;
    for (const name of relationshipType === undefined ? alternatives : [relationshipType])
      found.set(JSON.stringify([from, name, to]), { from, relationshipType: name, to });
  };
  const look = (rule: WhyNotRule) => {
    rule.wouldAllowIf?.forEach(add);
    for (const condition of [...(rule.condition ? [rule.condition] : []), ...(rule.conditions ?? [])]) {
      condition.missing?.forEach(add);
      condition.because?.forEach(look);
    }
  };
  rules.forEach(look);
  return [...found.values()];
}

const isNamed = (end: Partial<Actor> | undefined): end is Actor => end?.type !== undefined && end.id !== undefined;

const middleOf = ({ next }: Inheritance) => next.split(':')[0] as string;
const nameOf = (key: string) => key.split(':')[1] as string;

/** Only what the first and the last relationship of a way can be. */
function needsOf(ways: readonly Inheritance[]): Needs {
  const use = (key: string, way: Inheritance) => ({ name: nameOf(key), type: { literal: middleOf(way) } });
  const uses = {
    subject: ways.map((way) => use(way.through, way)),
    resource: ways.map((way) => use(way.next, way)),
  };
  const sides = { subject: true, resource: true, subjectAttributes: false, resourceAttributes: false };
  return recordsOnly({ ...sides, uses });
}

/** Those of which a part is there first. */
function pathsOf(one: Step, ways: readonly Inheritance[], { graph, inherited = [] }: Facts): MissingPath[] {
  const stored = (step: Step): StoredPart => pathOf(inherited, step) ?? { through: [step] };
  const missing = (from: End, key: string, to: End): PathStep => ({
    ...{ from, relationshipType: nameOf(key), to, missing: true },
  });
  const paths = ways.map((way) => {
    const middle = middleOf(way);
    const first = nameOf(way.through);
    const last = nameOf(way.next);
    const heads = graph.subject.filter(({ relationshipType, to }) => relationshipType === first && to.type === middle);
    const tails = graph.resource.filter(
      ({ relationshipType, from }) => relationshipType === last && from.type === middle,
    );
    const begun = heads.slice(0, limits.missingPathsMax).map(({ to: { type, id } }) => {
      const to = { type, id };
      const there = stored({ from: one.from, relationshipType: first, to });
      return { ...there, through: [...there.through, missing(to, way.next, one.to)] };
    });
    const ended = tails.slice(0, limits.missingPathsMax).map(({ from: { type, id } }) => {
      const from = { type, id };
      const there = stored({ from, relationshipType: last, to: one.to });
      return { ...there, through: [missing(one.from, way.through, from), ...there.through] };
    });
    const any = { type: middle };
    return {
      partial: [...begun, ...ended],
      none: { through: [missing(one.from, way.through, any), missing(any, way.next, one.to)] },
    };
  });
  const partial = paths.flatMap((way) => way.partial);
  const whole = paths.filter((way) => way.partial.length === 0).map((way) => way.none);
  return [...partial, ...whole].slice(0, limits.missingPathsMax).map((path) => ({ relationship: one, ...path }));
}

const isSame = (a: Actor, b: Actor) => a.type === b.type && a.id === b.id;

type StoredPart = { through: readonly Step[]; leftOut?: number };

function pathOf(inherited: readonly InheritedPath[], { from, relationshipType, to }: Step): StoredPart | undefined {
  const found = inherited.find(
    ({ relationship: other }) =>
      other.relationshipType === relationshipType && isSame(other.from, from) && isSame(other.to, to),
  );
  if (found === undefined) return undefined;
  const { relationship: _, ...path } = found;
  return path;
}
