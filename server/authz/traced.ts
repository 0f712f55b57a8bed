/** The stages of a decision as spans. Their attributes are counts and names of configuration, nothing of persons. */
import { asChild, type Span } from '../core/span.ts';
import type { Facts, FactsSource, Needs } from '../facts/index.ts';
import type { Engine } from '../policies/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import type { DecisionContext } from './actions.ts';
import { type Decidable, type Decision, decide, type Evaluation, outcomeKind } from './decide.ts';

export function gatherTraced(
  source: FactsSource,
  snapshot: TenantSnapshot,
  evaluation: Evaluation,
  needs: Needs,
  span: Span,
): Facts | Promise<Facts> {
  return asChild(
    span,
    'gather facts',
    (own) => source.gather(snapshot, evaluation, needs, own),
    ({ graph, consents, dataSubjects, denial }) => ({
      'accord.facts.relationships': graph.subject.length + graph.resource.length,
      'accord.facts.consents': consents.length,
      ...(dataSubjects === undefined ? {} : { 'accord.facts.data_subjects': dataSubjects.length }),
      ...(denial === undefined ? {} : { 'accord.reason': denial.reason }),
    }),
  );
}

export function evaluateTraced(
  span: Span,
  engine: Pick<Engine, 'run'>,
  context: Decidable,
  facts: Facts,
): Decision | Promise<Decision> {
  const { policy } = context;
  const evaluate = () => decide(engine, context, facts);
  return asChild(span, 'evaluate', evaluate, ({ answer, failure }) => {
    const outcome = { 'accord.outcome': outcomeKind(answer.outcome) };
    span.set(outcome);
    return {
      ...outcome,
      ...(policy === undefined ? {} : { 'accord.policy': policy.name, 'accord.policy.revision': policy.number }),
      ...(failure === undefined ? {} : { 'accord.reason': failure.reason }),
    };
  });
}

/** Of many decisions in one request, each part is a span, not each decision. */
export function untraced<A extends Pick<DecisionContext, 'span'>>(context: A): A {
  return context.span ? { ...context, span: null } : context;
}
