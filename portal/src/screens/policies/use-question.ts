/** The question that is tried: what was asked before, or what the page was opened with. */
import { useEffect, useMemo, useState } from 'react';
import { useDraft } from '../../core/drafts.ts';
import { useTenant } from '../../core/session.ts';
import { firstQuestion, inputOf, ofInput, ofPair, type Question, useVocabulary } from './question.ts';
import { useDecision } from './trace.tsx';

/** Where a page was opened from: a decision of the log, or two things of which another page asks (`user/alice`, `car/7`). */
type Opened = { decision?: string; subject?: string; resource?: string };

/** What was asked in this tab: it has records of people where they were loaded, so it goes with the page. */
const askedHere = new Map<string, Question>();

/** The browser keeps what was asked without what the policy was given of people, which the whole input has, too. */
const withoutRecords = (question: Question): Question => ({ ...question, mode: 'form', facts: '', json: '' });

function useAsked(key: string) {
  const { draft, keep } = useDraft<Question>(key);
  const ask = (question: Question) => {
    askedHere.set(key, question);
    keep(withoutRecords(question));
  };
  return { asked: askedHere.get(key) ?? draft, ask };
}

/** What is asked; what the page was opened with fills it in. */
export function useQuestion(name: string, { decision, subject, resource }: Opened) {
  const { tenant } = useTenant();
  const vocabulary = useVocabulary();
  const kept = useAsked(`${tenant.code}/policy-question/${name}`);
  const [own, setOwn] = useState<{ opened: string; question: Question }>();
  const explained = useDecision(decision).data?.explain?.input;
  const first = firstQuestion(name, vocabulary);
  const opened = decision ?? (subject !== undefined || resource !== undefined ? `${subject} ${resource}` : undefined);
  const isOwn = opened !== undefined && own?.opened === opened;
  const question = isOwn ? own.question : (kept.asked ?? first);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each that is opened
  useEffect(() => {
    if (opened === undefined) return;
    if (decision === undefined) setOwn({ opened, question: ofPair(first, subject, resource) });
    else if (explained) setOwn({ opened, question: ofInput(first, explained) });
  }, [opened, explained]);
  const input = useMemo(() => inputOf(question, name, tenant.code), [question, name, tenant.code]);
  // What was filled in is its own: the question that was there before comes back without it.
  const ask = (next: Question) => (isOwn ? setOwn({ opened, question: next }) : kept.ask(next));
  return { question, input, ask, first, vocabulary };
}
