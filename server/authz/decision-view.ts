/** How records of the decision log are shown, and to whom how much. */
import { type Static, Type } from 'typebox';
import { shownName } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import type { InheritedPath } from '../facts/index.ts';
import type { FailedCondition, MissingFact, WhyNot, WhyNotRule } from '../rego/index.ts';
import type { Explanation } from './explain.ts';
import type { MissingPath, PathStep } from './missing-paths.ts';
import type { DecisionRow } from './store.ts';

export const DecisionView = Type.Object({
  id: Type.String(),
  time: Type.String(),
  caller: Type.String(),
  action: Type.Optional(Type.String()),
  request: Type.Unknown(),
  answer: Type.Unknown(),
  policyRevision: Type.Optional(Type.Integer()),
  data: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      description: 'Revisions of the data documents that the policy read, by path.',
    }),
  ),
  libraries: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      description: 'Revisions of the libraries that the policy was compiled with, by package.',
    }),
  ),
  revision: Type.String(),
  durationUs: Type.Integer(),
  requestId: Type.Optional(Type.String()),
});
export type DecisionView = Static<typeof DecisionView>;

/**
 * Support sees what was decided, not about whom: ids and free attributes are left out, and an outcome that is an object is
 * masked, because a policy may put anything into it. So is an action that no policy decided, which is any text of the request.
 */
export function decisionView(row: DecisionRow, role: Role): DecisionView {
  const masked = isMasked(role);
  const action = masked && row.action !== null && row.policy_number === null ? HIDDEN : row.action;
  return {
    id: row.id,
    time: row.at,
    caller: shownName(role, row.caller),
    ...(action === null ? {} : { action }),
    request: masked ? { action } : row.request,
    answer: masked ? { outcome: shownOutcome(row.answer.outcome) } : row.answer,
    ...(row.policy_number === null ? {} : { policyRevision: row.policy_number }),
    ...(row.documents === null ? {} : { data: row.documents }),
    ...(row.libraries === null ? {} : { libraries: row.libraries }),
    revision: `c${row.revision}`,
    durationUs: row.duration_us,
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
  };
}

export function isMasked(role: Role): boolean {
  return role === 'support';
}

export function shownOutcome(outcome: unknown): string {
  return outcome === 'allow' || outcome === 'deny' ? outcome : '***';
}

type Path = InheritedPath | MissingPath;
/** `inherited`: of the relationships from the subject to the resource, of which types the path was. */
type MaskedExplanation = Omit<Partial<Explanation>, 'missingPaths'> & { inherited?: Path[]; missingPaths?: Path[] };

/**
 * Without the facts, and without values and ids in what it tells. Of the input, the action and the types.
 * @param source of the policy: names of relationships and consents that stand in it are shown
 * @param types those that the tenant has; a request may state any other text as one
 */
export function maskedExplanation(
  explain: Explanation,
  source: string,
  types: ReadonlySet<string> | ReadonlyMap<string, unknown>,
): MaskedExplanation {
  const shown: Shown = {
    named: (name) => (source.includes(JSON.stringify(name)) ? name : HIDDEN),
    entity: ({ type }) => ({ type: typeof type === 'string' && types.has(type) ? type : HIDDEN, id: HIDDEN }),
  };
  const { input, facts: _, failure, whyNot, missingConsents, missingPaths, ...rest } = explain;
  const inherited = inheritedBetween(explain);
  return {
    ...rest,
    input: maskedInput(input, shown),
    ...(inherited.length > 0 && { inherited: inherited.map((path) => maskedPath(path, shown)) }),
    ...(missingPaths && { missingPaths: missingPaths.map((path) => maskedPath(path, shown)) }),
    ...(failure === undefined ? {} : { failure: { ...failure, detail: HIDDEN } }),
    ...(whyNot === undefined ? {} : { whyNot: maskedWhyNot(whyNot, shown) }),
    ...(missingConsents && { missingConsents: missingConsents.map((one) => ({ ...one, ...shown.entity(one) })) }),
  };
}

const HIDDEN = '***';
type Shown = {
  named: (name: string) => string;
  entity: (of: { type?: unknown }) => { type: string; id: string };
};

/** The action is the name of the policy, which is shown. */
function maskedInput({ subject, action, resource }: Explanation['input'], { entity }: Shown) {
  const masked = (of: unknown) => (typeof of === 'object' && of !== null ? entity(of) : undefined);
  const [who, what] = [masked(subject), masked(resource)];
  return {
    ...(who && { subject: who }),
    ...(typeof action === 'string' && { action }),
    ...(what && { resource: what }),
  };
}

/** Those that lead from the subject to the resource of the question. */
function inheritedBetween({ input: { subject, resource }, facts: { inherited = [] } }: Explanation): InheritedPath[] {
  const is = (end: { type: string; id: string }, of: unknown) => {
    const { type = end.type, id } = (of ?? {}) as { type?: unknown; id?: unknown };
    return type === end.type && id === end.id;
  };
  return inherited.filter(({ relationship: { from, to } }) => is(from, subject) && is(to, resource));
}

/** Names of relationship types are the tenant's, not the request's. */
function maskedPath({ relationship, through, ...rest }: Path, { entity }: Shown): Path {
  const masked = <T extends PathStep>(step: T) => ({ ...step, from: entity(step.from), to: entity(step.to) });
  return { ...rest, relationship: masked(relationship), through: through.map(masked) };
}

function maskedWhyNot({ rules, ...rest }: WhyNot, shown: Shown): WhyNot {
  return { ...rest, rules: rules.map((rule) => maskedRule(rule, shown)) };
}

function maskedRule({ value: _, ...rule }: WhyNotRule, shown: Shown): WhyNotRule {
  const { condition, conditions, wouldAllowIf, heldFor, ...rest } = rule;
  return {
    ...rest,
    ...(heldFor === undefined ? {} : { heldFor: heldFor.map(({ of }) => ({ of, value: HIDDEN })) }),
    ...(condition === undefined ? {} : { condition: maskedCondition(condition, shown) }),
    ...(conditions === undefined ? {} : { conditions: conditions.map((one) => maskedCondition(one, shown)) }),
    ...(wouldAllowIf === undefined ? {} : { wouldAllowIf: wouldAllowIf.map((fact) => maskedFact(fact, shown)) }),
  };
}

function maskedCondition({ values, item, missing, because, ...rest }: FailedCondition, shown: Shown): FailedCondition {
  return {
    ...rest,
    values: values.map(({ of }) => ({ of, value: HIDDEN })),
    ...(item === undefined ? {} : { item: { ...item, values: item.values.map(({ of }) => ({ of, value: HIDDEN })) } }),
    ...(missing === undefined ? {} : { missing: missing.map((fact) => maskedFact(fact, shown)) }),
    ...(because === undefined ? {} : { because: because.map((rule) => maskedRule(rule, shown)) }),
  };
}

/** A policy may ask for what a request states: then its name is the request's, too. */
function maskedFact({ relationship, consent }: MissingFact, { named, entity }: Shown): MissingFact {
  if (relationship !== undefined) {
    const { relationshipType, alternatives, from, to } = relationship;
    const type = relationshipType === undefined ? undefined : named(relationshipType);
    const masked = {
      ...(type === undefined ? {} : { relationshipType: type }),
      ...(alternatives === undefined ? {} : { alternatives: alternatives.map(named) }),
      ...{ from: entity(from), to: entity(to) },
    };
    return { relationship: masked, text: `a relationship ${type ?? ''}`.trim() };
  }
  if (consent === undefined) return { text: HIDDEN };
  const name = consent.name === undefined ? undefined : named(consent.name);
  const { status, subject = {} } = consent;
  const masked = { ...(name === undefined ? {} : { name }), subject: entity(subject), status };
  return { consent: masked, text: `a consent to ${name ?? 'something'}` };
}
