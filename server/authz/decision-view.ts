/** How records of the decision log are shown, and to whom how much. */
import { type Static, Type } from 'typebox';
import { shownName } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import type { FailedCondition, MissingFact, WhyNot, WhyNotRule } from '../rego/index.ts';
import type { Explanation } from './explain.ts';
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
 * masked, because a policy may put anything into it.
 */
export function decisionView(row: DecisionRow, role: Role): DecisionView {
  const masked = isMasked(role);
  return {
    id: row.id,
    time: row.at,
    caller: shownName(role, row.caller),
    ...(row.action === null ? {} : { action: row.action }),
    request: masked ? { action: row.action } : row.request,
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

/**
 * Without what the policy was given, and without the values, ids and types in what it tells.
 * @param source of the policy: names of relationships and consents that stand in it are shown
 */
export function maskedExplanation(explain: Explanation, source: string): Partial<Explanation> {
  const named = (name: string) => (source.includes(JSON.stringify(name)) ? name : HIDDEN);
  const { input: _, facts: __, failure, whyNot, missingConsents, ...rest } = explain;
  return {
    ...rest,
    ...(failure === undefined ? {} : { failure: { ...failure, detail: HIDDEN } }),
    ...(whyNot === undefined ? {} : { whyNot: maskedWhyNot(whyNot, named) }),
    ...(missingConsents && { missingConsents: missingConsents.map((one) => ({ ...one, type: HIDDEN, id: HIDDEN })) }),
  };
}

const HIDDEN = '***';
type Named = (name: string) => string;

function maskedWhyNot({ rules, ...rest }: WhyNot, named: Named): WhyNot {
  return { ...rest, rules: rules.map((rule) => maskedRule(rule, named)) };
}

function maskedRule({ value: _, ...rule }: WhyNotRule, named: Named): WhyNotRule {
  const { condition, conditions, wouldAllowIf, heldFor, ...rest } = rule;
  return {
    ...rest,
    ...(heldFor === undefined ? {} : { heldFor: heldFor.map(({ of }) => ({ of, value: HIDDEN })) }),
    ...(condition === undefined ? {} : { condition: maskedCondition(condition, named) }),
    ...(conditions === undefined ? {} : { conditions: conditions.map((one) => maskedCondition(one, named)) }),
    ...(wouldAllowIf === undefined ? {} : { wouldAllowIf: wouldAllowIf.map((fact) => maskedFact(fact, named)) }),
  };
}

function maskedCondition({ values, item, missing, because, ...rest }: FailedCondition, named: Named): FailedCondition {
  return {
    ...rest,
    values: values.map(({ of }) => ({ of, value: HIDDEN })),
    ...(item === undefined ? {} : { item: { ...item, values: item.values.map(({ of }) => ({ of, value: HIDDEN })) } }),
    ...(missing === undefined ? {} : { missing: missing.map((fact) => maskedFact(fact, named)) }),
    ...(because === undefined ? {} : { because: because.map((rule) => maskedRule(rule, named)) }),
  };
}

/** A policy may ask for what a request states: then its name is the request's, too. */
function maskedFact({ relationship, consent }: MissingFact, named: Named): MissingFact {
  const hidden = { type: HIDDEN, id: HIDDEN };
  if (relationship !== undefined) {
    const { relationshipType, alternatives } = relationship;
    const type = relationshipType === undefined ? undefined : named(relationshipType);
    const masked = {
      ...(type === undefined ? {} : { relationshipType: type }),
      ...(alternatives === undefined ? {} : { alternatives: alternatives.map(named) }),
      ...{ from: hidden, to: hidden },
    };
    return { relationship: masked, text: `a relationship ${type ?? ''}`.trim() };
  }
  if (consent === undefined) return { text: HIDDEN };
  const name = consent.name === undefined ? undefined : named(consent.name);
  const { status } = consent;
  const masked = { ...(name === undefined ? {} : { name }), subject: hidden, status };
  return { consent: masked, text: `a consent to ${name ?? 'something'}` };
}
