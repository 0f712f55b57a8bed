/** The question of a policy's page: kept as somebody left it, or filled in by what the page was opened with. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTenant } from '../../core/session.ts';
import { useIsMember, useRecord } from '../../core/session-end.ts';
import { type Answer, askStored, type Explanation, pathsIn } from '../../why/index.ts';
import { useAsked, withoutRecords } from './asked.ts';
import {
  firstQuestion,
  inputOf,
  ofInput,
  ofPair,
  type Question,
  requestOf,
  useVocabulary,
  withFacts,
} from './question.ts';
import { type Draft, sourceOf } from './shapes.ts';
import { useDecision } from './trace.tsx';

/** Where a page was opened from: a decision of the log, or two things of which another page asks (`user/alice`, `car/7`). */
type Opened = { decision?: string; subject?: string; resource?: string };
type Loaded = { error?: unknown; denied?: Answer & { explain: Explanation } };
/** Loading what is stored. `denied`: a decision is denied for its facts, without the policy. */
export type Loading = Loaded & { isBusy: boolean; load: () => void };
export type AskedQuestion = ReturnType<typeof useQuestion>;

type Around = { draft: Draft; mayTry: boolean };

export function useQuestion(name: string, { decision, subject, resource }: Opened, { draft, mayTry }: Around) {
  const { tenant } = useTenant();
  const vocabulary = useVocabulary();
  const kept = useAsked(`${tenant.code}/policy-question/${name}`);
  const [own, setOwn] = useRecord<{ opened: string; question: Question }>();
  const isMember = useIsMember();
  const explained = useDecision(decision).data?.explain;
  const first = firstQuestion(name, vocabulary);
  const opened = decision ?? (subject !== undefined || resource !== undefined ? `${subject} ${resource}` : undefined);
  const isOwn = opened !== undefined && own?.opened === opened;
  const filled = isOwn ? own.question : (kept.draft ?? first);
  // What somebody typed stays; what was loaded is of records.
  const isLoaded = filled.factsOf !== undefined || filled.paths !== undefined;
  const question = useMemo(
    () => (isLoaded && !isMember ? withoutRecords(filled) : filled),
    [filled, isLoaded, isMember],
  );
  // What was filled in is its own: the question that was there before comes back without it.
  const put = (next: Question) => (isOwn ? setOwn({ opened, question: next }) : kept.keep(next));
  const facts = useLoading(name, draft);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each that is opened
  useEffect(() => {
    if (opened === undefined) return;
    if (decision !== undefined) {
      if (explained?.input) setOwn({ opened, question: ofInput(first, explained.input, pathsIn(explained)) });
      return;
    }
    const next = ofPair(first, subject, resource);
    setOwn({ opened, question: next });
    if (mayTry && subject !== undefined && resource !== undefined)
      void facts.load(next, (loaded) => setOwn({ opened, question: loaded }));
  }, [opened, explained]);
  const input = useMemo(() => inputOf(question, name, tenant.code), [question, name, tenant.code]);
  const ask = (next: Question) => {
    facts.forget();
    put(next);
  };
  const { denied, ...state } = facts.state;
  const loading: Loading = {
    ...state,
    ...(denied && isMember && { denied }),
    load: () => void facts.load(question, put),
  };
  return { question, input, ask, first, vocabulary, loading };
}

function useLoading(name: string, draft: Draft) {
  const { api } = useTenant();
  const [state, setState] = useState<Loaded & { isBusy: boolean }>({ isBusy: false });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const forget = () => {
    running.current?.abort();
    setState({ isBusy: false });
  };
  const load = async (question: Question, onFound: (question: Question) => void) => {
    running.current?.abort();
    const stop = new AbortController();
    running.current = stop;
    setState({ isBusy: true });
    const found = await askStored(api, name, requestOf(question), { draft: sourceOf(draft), signal: stop.signal })
      .then((told) => ({ told }))
      .catch((error: unknown) => ({ error }));
    // Somebody has asked something else meanwhile.
    if (stop.signal.aborted) return;
    if ('error' in found) return setState({ isBusy: false, error: found.error });
    const { input = {}, failure } = found.told.explain;
    if (failure !== undefined && Object.keys(input).length === 0)
      return setState({ isBusy: false, denied: found.told });
    setState({ isBusy: false });
    onFound(withFacts(question, found.told.explain));
  };
  return { state, load, forget };
}
