/** What was answered and why: of the question that is tried, and of a decision of the log that was opened here. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { pathOf, segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Notice, ProblemAlert, RelativeTime } from '../../ui/index.ts';
import { type KnownPaths, type Links, type Place, Why, withPaths } from '../../why/index.ts';
import { type Marking, takesFocus } from './marking.ts';
import type { Explained } from './shapes.ts';
import { texts } from './texts.ts';
import type { Checked } from './use-check.ts';

/** A decision of the log, explained by the revision that made it. */
export function useDecision(id: string | undefined) {
  const { tenant, api } = useTenant();
  return useQuery({
    queryKey: ['policies', tenant.code, 'decision', id],
    queryFn: async ({ signal }) =>
      (await api.post<Explained>(`/decisions/${segment(id ?? '')}/explain`, { signal })).data,
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What a link to a line keeps of the page's address: what is asked, and a change. */
export type Kept = { decision?: string; change?: string; subject?: string; resource?: string };
type Marks = { kept: Kept; marking: Marking; place: Place };

const linksOf = ({ kept, marking, place }: Marks): Links => ({
  line: (policy, line, file) =>
    file === undefined
      ? pathOf(`/policies/${segment(policy)}`, { line, ...kept })
      : pathOf('/policies', { library: file }),
  onPlace: (to) => marking.set({ ...to, by: 'trace', goes: true }),
  marked: place,
});

/** The focus comes here from what is marked in the source. */
export function TraceBox({ mark, children }: { mark: Marking['mark']; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!takesFocus(mark, 'trace')) return;
    const all = [...(box.current?.querySelectorAll<HTMLElement>('.marked') ?? [])];
    // Of a rule and its condition at the same line, the condition.
    const marked = all.find((one) => one.querySelector('.marked') === null);
    (marked?.matches('button') ? marked : marked?.querySelector<HTMLElement>('a, button'))?.focus();
  }, [mark]);
  return (
    <div className="stack" ref={box}>
      {children}
    </div>
  );
}

type TraceProps = { checked: Checked; marks: Marks; paths: KnownPaths | undefined };

/** @param paths of the facts that were loaded */
export function Trace({ checked, marks, paths }: TraceProps) {
  const t = useTexts(texts);
  const { tried, tryError, problems, error, isChecking } = checked;
  if (problems.length > 0) return <Notice tone="bad">{t.doesNotCompile(problems.length)}</Notice>;
  if (tryError !== undefined) return <ProblemAlert error={tryError} />;
  if (tried?.explain === undefined)
    return <p className="dim">{error !== undefined ? t.refusedDraft : isChecking ? t.asking : t.noQuestion}</p>;
  return <Why answer={tried} explain={withPaths(tried.explain, paths)} links={linksOf(marks)} />;
}

/** What the log says of it, above the question that it filled in. */
export function Recorded({ id, isExplained, marks }: { id: string; isExplained: boolean; marks: Marks }) {
  const t = useTexts(texts);
  const { data, error, isLoading } = useDecision(id);
  if (isLoading) return <p role="status">{t.loadingDecision}</p>;
  if (error || data === undefined) return <ProblemAlert error={error} />;
  const { decision, answer, differs, notes, explain } = data;
  return (
    <div className="stack">
      <Notice tone={differs.length > 0 ? 'warn' : 'none'}>
        <strong>{t.recorded(String(asText(decision.answer.outcome)), decision.policyRevision)}</strong>{' '}
        <span className="dim">
          <RelativeTime at={decision.time} />, {decision.caller}
        </span>
        {notes.length === 0 && <p>{t.factsAreOfNow}</p>}
        {differs.map(({ member, recorded, now }) => (
          <p key={member}>{t.differs(member, asText(recorded), asText(now))}</p>
        ))}
        {notes.map((one) => (
          <p key={one}>{one}</p>
        ))}
      </Notice>
      {isExplained && explain && <Why answer={answer} explain={explain} links={linksOf(marks)} />}
    </div>
  );
}

const asText = (value: unknown) =>
  typeof value === 'string' ? value : value === undefined ? '–' : JSON.stringify(value);
