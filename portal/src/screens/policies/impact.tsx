/** Before a draft is saved: which logged decisions it would have answered otherwise. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Link, Notice, ProblemAlert, RelativeTime } from '../../ui/index.ts';
import { entityText } from '../../why/model.ts';
import { type Draft, type Replayed, sourceOf } from './shapes.ts';
import { texts } from './texts.ts';

type Props = { name: string; draft: Draft; actions: ReactNode };

export function Impact({ name, draft, actions }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const body = sourceOf(draft);
  const replay = useQuery({
    queryKey: ['policies', tenant.code, 'replay', name, JSON.stringify(body)],
    queryFn: async ({ signal }) =>
      (await api.post<Replayed>(`/policies/${segment(name)}/replay`, { body, signal })).data,
    gcTime: 0,
    retry: false,
  });
  return (
    <section className="card stack" aria-label={t.impact}>
      <h2>{t.impact}</h2>
      {replay.isLoading && <p role="status">{t.replaying}</p>}
      {replay.error && <ProblemAlert error={replay.error} onRetry={() => void replay.refetch()} />}
      {replay.data && <Found name={name} found={replay.data} />}
      <div className="row">{actions}</div>
    </section>
  );
}

function Found({ name, found }: { name: string; found: Replayed }) {
  const t = useTexts(texts);
  const unseen = found.decisionLog !== 'all' && <Notice>{t.unseen(found.decisionLog)}</Notice>;
  if (found.records === 0) {
    return (
      <>
        <p>{t.noRecords}</p>
        {unseen}
      </>
    );
  }
  const groups = Map.groupBy(
    found.examples,
    ({ before, after }) => `${word(before?.outcome)} → ${word(after?.outcome)}`,
  );
  return (
    <>
      <p>
        <strong>{t.wouldChange(found.changed, found.records)}</strong>{' '}
        {found.oldest && (
          <span className="dim">
            {t.since} <RelativeTime at={found.oldest} />. {!found.complete && t.notComplete}
          </span>
        )}
      </p>
      {unseen}
      {found.outcomes.length > 0 && (
        <ul>
          {found.outcomes.map(({ before, after, count }) => (
            <li key={`${before} ${after}`}>{t.fromTo(count, before, after)}</li>
          ))}
        </ul>
      )}
      {found.notByDraft > 0 && <p className="dim">{t.notByDraft(found.notByDraft)}</p>}
      {found.notEvaluated.map(({ reason, count }) => (
        <p key={reason} className="dim">
          {t.notEvaluated(count)} <code>{reason}</code>
        </p>
      ))}
      {[...groups].map(([kind, examples]) => (
        <details key={kind} open={groups.size < 3}>
          <summary>
            {kind} ({examples.length})
          </summary>
          <ul>
            {examples.map(({ id, time, request }) => (
              <li key={id}>
                <Link to={`/policies/${segment(name)}?decision=${segment(id)}`}>
                  {request?.subject ? entityText(request.subject) : t.somebody}
                  {request?.resource && ` · ${entityText(request.resource)}`}
                </Link>{' '}
                <span className="dim">
                  <RelativeTime at={time} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      ))}
      <p className="dim">{t.factsOfNow}</p>
    </>
  );
}

const word = (outcome: unknown) => (typeof outcome === 'string' ? outcome : outcome === undefined ? '…' : 'object');
