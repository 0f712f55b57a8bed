/** Explains a decision of the log by the revision of the policy that made it, with its request and its instant. */
import { isDeepStrictEqual } from 'node:util';
import { kindOfCaller } from '../core/auth/name.ts';
import { inputFor, needsOfExplained } from '../facts/index.ts';
import { type Answer, policyProblem, readRevision } from '../policies/index.ts';
import { STAND_IN, textsOf } from '../pseudonyms/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { denied } from './decide.ts';
import { type Explainer, type Explanation, unevaluated } from './explain.ts';
import { missingConsents } from './missing-consents.ts';
import { authzProblem } from './problems.ts';
import type { ReplayServices } from './replay.ts';
import { type DecisionRow, readDecision } from './store.ts';

export type LoggedServices = ReplayServices & { explainer: Explainer };

/** Members of the two answers that are not the same. */
export type Difference = { member: 'outcome' | 'reason' | 'obligations'; recorded?: unknown; now?: unknown };

export type ExplainedDecision = {
  row: DecisionRow;
  /** What the revision answers with the facts that were taken. */
  answer: Answer;
  explain?: Explanation;
  differs: Difference[];
  /** What could not be as it was. */
  notes: string[];
};

/** Texts of a record that are looked at for stand-ins; a record with more was shortened when it was written. */
const TEXTS_MAX = 100_000;

/**
 * Explains a recorded decision.
 * @throws Problem decision_not_found, decision_without_policy, decision_of_erased, policy_revision_not_found;
 *   compiler_busy, evaluator_busy, not_ready
 */
export async function explainLogged(
  services: LoggedServices,
  snapshot: TenantSnapshot,
  id: string,
): Promise<ExplainedDecision> {
  const { tenant } = snapshot;
  const row = await services.database.read(tenant, (tx) => readDecision(tx, tenant, id));
  if (row === undefined) throw authzProblem('decision_not_found');
  const { action, policy_number: number, request } = row;
  if (action === null || number === null) throw authzProblem('decision_without_policy');
  if ([...textsOf([request], TEXTS_MAX)].some((text) => text.startsWith(STAND_IN)))
    throw authzProblem('decision_of_erased');
  const revision = await services.database.read(tenant, (tx) => readRevision(tx, tenant, action, number));
  if (revision === undefined || revision.effective_rego === null) {
    const detail = `Revision ${number} of ${action} made this decision and is no longer kept.`;
    throw policyProblem('policy_revision_not_found', { detail });
  }
  const { effective_rego: effectiveRego, graph, data_subjects: dataSubjects } = revision;
  const { about } = await services.artifacts.compile(tenant, effectiveRego, graph ? 'graph' : 'rego');
  const source = {
    ...{ name: action, number, effectiveRego, reads: about.reads, tests: [] },
    ...(graph ? { graph } : {}),
    ...(dataSubjects ? { dataSubjects } : {}),
  };
  const needs = needsOfExplained(source);
  const question = { tenant, request, now: services.clock.now(), caller: kindOfCaller(row.caller) };
  const facts = await services.facts.gather(snapshot, question, needs);
  const notes = notesOf(row);
  if (facts.denial !== undefined) {
    const { answer } = denied(facts.denial);
    return { row, answer, explain: unevaluated(source, facts.denial), differs: differences(row.answer, answer), notes };
  }
  const now = Date.parse(row.at);
  const input = inputFor(needs, { ...question, now }, facts);
  const { decision, explain } = await services.explainer.explain(tenant, source, input, facts, now);
  const missing = missingConsents(snapshot.definitions.keys(), effectiveRego, facts);
  return {
    ...{ row, answer: decision.answer, differs: differences(row.answer, decision.answer), notes },
    explain: missing.length > 0 ? { ...explain, missingConsents: missing } : explain,
  };
}

function notesOf({ request, action }: DecisionRow): string[] {
  const hadToken = request.context?.requestToken !== undefined || /:invitation:\w+$/.test(action ?? '');
  return [
    'The request and input.time are those of the record. Relationships, attributes and consents are those of now, and so are libraries and data documents.',
    ...(hadToken
      ? ['The invitation is not in the record, because a requestToken is a secret: the policy was given none.']
      : []),
  ];
}

function differences(recorded: Answer, now: Answer): Difference[] {
  return (['outcome', 'reason', 'obligations'] as const).flatMap((member) => {
    const [before, after] = [recorded[member], now[member]];
    if (isDeepStrictEqual(before, after)) return [];
    return [
      { member, ...(before === undefined ? {} : { recorded: before }), ...(after === undefined ? {} : { now: after }) },
    ];
  });
}
