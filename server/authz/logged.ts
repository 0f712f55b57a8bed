/** Explains a decision of the log by the revision of the policy that made it, with its request and its instant. */
import { isDeepStrictEqual } from 'node:util';
import { kindOfCaller } from '../core/auth/name.ts';
import { type Answer, type PartName, type PartSet, policyProblem, readRevision } from '../policies/index.ts';
import { type Pseudonymizer, REPLACEMENT_PREFIX, textsOf } from '../pseudonyms/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { withoutErasedPersons } from './being-erased.ts';
import type { Explainer, Explanation } from './explain.ts';
import { explainQuestion } from './explain-question.ts';
import { authzProblem } from './problems.ts';
import type { ReplayServices } from './replay.ts';
import { type DecisionRow, readDecision } from './store.ts';

export type LoggedServices = ReplayServices & { explainer: Explainer; pseudonymizer: Pseudonymizer };

/** Members of the two answers that are not the same. */
type Difference = { member: 'outcome' | 'reason' | 'obligations'; recorded?: unknown; now?: unknown };

export type ExplainedDecision = {
  row: DecisionRow;
  /** The Rego of the revision that made it. */
  source: string;
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
 * @throws Problem decision_not_found, decision_without_policy, decision_of_erased, policy_revision_not_found, decision_parts_gone;
 *   compiler_busy, evaluator_busy, not_ready
 */
export async function explainLogged(
  services: LoggedServices,
  snapshot: TenantSnapshot,
  id: string,
): Promise<ExplainedDecision> {
  const { tenant } = snapshot;
  const found = await services.database.read(tenant, (tx) => readDecision(tx, tenant, id));
  const [row] = found === undefined ? [] : await withoutErasedPersons(services, tenant, [found]);
  if (row === undefined) throw authzProblem('decision_not_found');
  const { action, policy_number: number, request } = row;
  if (action === null || number === null) throw authzProblem('decision_without_policy');
  if ([...textsOf([request], TEXTS_MAX)].some((text) => text.startsWith(REPLACEMENT_PREFIX)))
    throw authzProblem('decision_of_erased');
  const revision = await services.database.read(tenant, (tx) => readRevision(tx, tenant, action, number));
  if (revision === undefined || revision.effective_rego === null) {
    const detail = `Revision ${number} of ${action} made this decision and is no longer kept.`;
    throw policyProblem('policy_revision_not_found', { detail });
  }
  const { effective_rego: effectiveRego, graph, data_subjects: dataSubjects } = revision;
  const parts = await partsOf(services, tenant, row);
  const { about } = await services.artifacts.compile(tenant, effectiveRego, graph ? 'graph' : 'rego', parts);
  const source = {
    ...{ name: action, number, effectiveRego, reads: about.reads, parts },
    ...(graph ? { graph } : {}),
    ...(dataSubjects ? { dataSubjects } : {}),
  };
  const evaluation = { tenant, request, now: services.clock.now(), caller: kindOfCaller(row.caller) };
  const asked = await explainQuestion(services, snapshot, source, evaluation, Date.parse(row.at));
  const { answer } = asked.decision;
  const differs = differences(row.answer, answer);
  return { row, source: asked.text, answer, explain: asked.explain, differs, notes: notesOf(row) };
}

/** What the policy was compiled with, and the documents that it read. @throws Problem decision_parts_gone */
async function partsOf(services: LoggedServices, tenant: string, row: DecisionRow): Promise<PartSet> {
  const revisions = (kind: PartName['kind'], numbers: Readonly<Record<string, number>> | null) =>
    Object.entries(numbers ?? {}).map(([name, number]) => ({ kind, name, number }));
  const used = [...revisions('library', row.libraries), ...revisions('data', row.documents)];
  const set = await services.artifacts.partsAt(tenant, used);
  const isKept = (one: PartName) => set.parts.some(({ kind, name }) => kind === one.kind && name === one.name);
  const gone = used.find((one) => !isKept(one));
  if (gone === undefined) return set;
  const what = gone.kind === 'library' ? 'library' : 'data document';
  const detail = `Revision ${gone.number} of the ${what} ${gone.name} was used for this decision and is no longer kept.`;
  throw authzProblem('decision_parts_gone', { detail });
}

function notesOf({ request, action }: DecisionRow): string[] {
  const hadToken = request.context?.requestToken !== undefined || /:invitation:\w+$/.test(action ?? '');
  return [
    'The request and input.time are those of the record. Relationships, attributes and consents are those of now.',
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
