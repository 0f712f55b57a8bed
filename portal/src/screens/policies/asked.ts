/** What was asked of a policy, as somebody left it. */
import { useDraft } from '../../core/drafts.ts';
import type { Question } from './question.ts';

/** Of this tab: it has records of people where they were loaded, so it goes with the page. */
const asked = new Map<string, Question>();

/** The browser keeps a question without what the policy was given of people, which the whole input has, too. */
export const withoutRecords = ({ paths: _, factsOf: __, ...question }: Question): Question => ({
  ...question,
  ...{ mode: 'form', facts: '', json: '' },
});

/** As `useDraft`. */
export function useAsked(name: string) {
  const kept = useDraft<Question>(name);
  const keep = (question: Question) => {
    asked.set(name, question);
    kept.keep(withoutRecords(question));
  };
  return { draft: asked.get(name) ?? kept.draft, keep };
}
