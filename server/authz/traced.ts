/** The stages of a decision as spans. Their attributes are counts and names of configuration, nothing of persons. */
import { asChild, type Span } from '../core/span.ts';
import type { Facts, FactsSource, Needs } from '../facts/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import type { Asked } from './actions.ts';
import { type Decision, outcomeKind, type Question } from './decide.ts';

export function gatherTraced(
  source: FactsSource,
  snapshot: TenantSnapshot,
  question: Question,
  needs: Needs,
  span: Span,
): Facts | Promise<Facts> {
  return asChild(
    span,
    'gather facts',
    (own) => source.gather(snapshot, question, needs, own),
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
  policy: { readonly name: string; readonly number?: number } | undefined,
  evaluate: () => Decision | Promise<Decision>,
): Decision | Promise<Decision> {
  return asChild(span, 'evaluate', evaluate, ({ answer, failure }) => {
    const outcome = { 'accord.outcome': outcomeKind(answer.outcome) };
    span.set(outcome);
    return {
      ...outcome,
      ...(policy === undefined ? {} : { 'accord.policy': policy.name }),
      ...(policy?.number === undefined ? {} : { 'accord.policy.revision': policy.number }),
      ...(failure === undefined ? {} : { 'accord.reason': failure.reason }),
    };
  });
}

/** Of many decisions in one request, each part is a span, not each decision. */
export function untraced<A extends Pick<Asked, 'span'>>(asked: A): A {
  return asked.span ? { ...asked, span: null } : asked;
}
