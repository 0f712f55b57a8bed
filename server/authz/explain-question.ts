/** Explaining a question without deciding it: the policy is given the facts that a decision is given, and nothing is recorded. */
import type { Database } from '../core/db/database.ts';
import { type Facts, type FactsSource, inputFor, needsOfExplained } from '../facts/index.ts';
import type { Pseudonymizer } from '../pseudonyms/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { withoutErasedIds } from './being-erased.ts';
import { type Decision, denied, type Evaluation } from './decide.ts';
import { type Explainer, type Explanation, type ReadSource, unevaluated } from './explain.ts';
import { withMissingConsents } from './missing-consents.ts';
import { withMissingPaths } from './missing-paths.ts';

export type QuestionServices = {
  facts: FactsSource;
  explainer: Explainer;
  database: Database;
  pseudonymizer: Pseudonymizer;
};

/** `text`: the source and those of its libraries. */
export type ExplainedQuestion = { decision: Decision; explain: Explanation; text: string };

/**
 * Gathers what a decision is given, and explains what the source answers to it.
 * @param evaluation the question; its instant is that of the facts
 * @param at the instant that the policy is told, ms
 * @throws Problem decision_of_erased; policy_does_not_compile for a draft; compiler_busy, evaluator_busy, not_ready
 */
export async function explainQuestion(
  services: QuestionServices,
  snapshot: TenantSnapshot,
  source: ReadSource,
  evaluation: Evaluation,
  at: number = evaluation.now,
): Promise<ExplainedQuestion> {
  const { tenant } = snapshot;
  const needs = needsOfExplained(source);
  const facts = await withoutErasedIds(services, tenant, await services.facts.gather(snapshot, evaluation, needs));
  if (facts.denial !== undefined)
    return {
      decision: denied(facts.denial),
      explain: unevaluated(source, facts.denial),
      text: source.effectiveRego,
    };
  const input = inputFor(needs, { ...evaluation, now: at }, facts);
  const { defaultActorType: consentingType } = snapshot.spec.tokenMapping;
  const about = { now: at, consentingType };
  const { decision, explain, text } = await services.explainer.explain(tenant, source, input, facts, about);
  const shown = (found: Facts) => withoutErasedIds(services, tenant, found);
  const told = await withMissingPaths({ facts: services.facts, shown }, snapshot, evaluation, explain);
  return { decision, explain: withMissingConsents(told, snapshot, text, facts), text };
}
