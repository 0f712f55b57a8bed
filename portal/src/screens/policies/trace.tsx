/** What was answered and why: of the question that is tried, and of a decision of the log that was opened here. */
import { useQuery } from '@tanstack/react-query';
import { pathOf, segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Notice, ProblemAlert, RelativeTime } from '../../ui/index.ts';
import { Why } from '../../why/index.ts';
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

/** What a link to a line keeps of the page: the decision that is open, and a change. */
type Kept = { decision?: string; change?: string };
const lineLinks = (keep: Kept) => ({
  line: (policy: string, line: number, file?: string) =>
    file === undefined
      ? pathOf(`/policies/${segment(policy)}`, { line, ...keep })
      : pathOf('/policies', { library: file }),
});

type Props = { checked: Checked; keep: Kept };

export function Trace({ checked, keep }: Props) {
  const t = useTexts(texts);
  const { tried, tryError, problems, error, isChecking } = checked;
  if (problems.length > 0) return <Notice tone="bad">{t.doesNotCompile(problems.length)}</Notice>;
  if (tryError !== undefined) return <ProblemAlert error={tryError} />;
  if (tried?.explain === undefined)
    return <p className="dim">{error !== undefined ? t.refusedDraft : isChecking ? t.asking : t.noQuestion}</p>;
  return <Why answer={tried} explain={tried.explain} links={lineLinks(keep)} />;
}

/** What the log says of it, above the question that it filled in. */
export function Recorded({ id, isExplained }: { id: string; isExplained: boolean }) {
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
      {isExplained && explain && <Why answer={answer} explain={explain} links={lineLinks({ decision: id })} />}
    </div>
  );
}

const asText = (value: unknown) =>
  typeof value === 'string' ? value : value === undefined ? '–' : JSON.stringify(value);
