/** Owns how records of the decision log are shown, and to whom how much. */
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

/** Without what the policy was given, and without the values and ids in what it tells. */
export function maskedExplanation(explain: Explanation): Partial<Explanation> {
  const { input: _, facts: __, failure, whyNot, missingConsents, ...rest } = explain;
  return {
    ...rest,
    ...(failure === undefined ? {} : { failure: { ...failure, detail: '***' } }),
    ...(whyNot === undefined ? {} : { whyNot: maskedWhyNot(whyNot) }),
    ...(missingConsents && { missingConsents: missingConsents.map((one) => ({ ...one, id: '***' })) }),
  };
}

function maskedWhyNot({ rules, ...rest }: WhyNot): WhyNot {
  return { ...rest, rules: rules.map(maskedRule) };
}

function maskedRule({ value: _, condition, conditions, wouldAllowIf, ...rest }: WhyNotRule): WhyNotRule {
  return {
    ...rest,
    ...(condition === undefined ? {} : { condition: maskedCondition(condition) }),
    ...(conditions === undefined ? {} : { conditions: conditions.map(maskedCondition) }),
    ...(wouldAllowIf === undefined ? {} : { wouldAllowIf: wouldAllowIf.map(maskedFact) }),
  };
}

function maskedCondition({ values, item, missing, because, ...rest }: FailedCondition): FailedCondition {
  return {
    ...rest,
    values: values.map(({ of }) => ({ of, value: '***' })),
    ...(item === undefined ? {} : { item: { ...item, values: item.values.map(({ of }) => ({ of, value: '***' })) } }),
    ...(missing === undefined ? {} : { missing: missing.map(maskedFact) }),
    ...(because === undefined ? {} : { because: because.map(maskedRule) }),
  };
}

function maskedFact({ relationship, consent }: MissingFact): MissingFact {
  const hidden = ({ type }: { type?: string }) => ({ ...(type === undefined ? {} : { type }), id: '***' });
  if (relationship !== undefined) {
    const masked = { ...relationship, from: hidden(relationship.from), to: hidden(relationship.to) };
    return { relationship: masked, text: `a relationship ${relationship.relationshipType ?? ''}`.trim() };
  }
  if (consent === undefined) return { text: '***' };
  return {
    consent: { ...consent, subject: hidden(consent.subject) },
    text: `a consent to ${consent.name ?? 'something'}`,
  };
}
