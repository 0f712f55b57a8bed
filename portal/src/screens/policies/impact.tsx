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
type Example = Replayed['examples'][number];

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
  const changed = found.changed - found.notByDraft;
  const outcomes = found.outcomes.filter(({ count, notByDraft }) => count > notByDraft);
  return (
    <>
      <p>
        <strong>{t.wouldChange(changed, found.records)}</strong>{' '}
        {found.oldest && (
          <span className="dim">
            {t.since} <RelativeTime at={found.oldest} />. {!found.complete && t.notComplete}
          </span>
        )}
      </p>
      {found.notByDraft > 0 && <p className="dim">{t.notByDraft(found.notByDraft)}</p>}
      {unseen}
      {outcomes.length > 0 && (
        <ul>
          {outcomes.map(({ before, after, count, notByDraft }) => (
            <li key={`${before} ${after}`}>{t.fromTo(count - notByDraft, before, after)}</li>
          ))}
        </ul>
      )}
      {found.notEvaluated.map(({ reason, count }) => (
        <p key={reason} className="dim">
          {t.notEvaluated(count)} <code>{reason}</code>
        </p>
      ))}
      <Examples {...{ name, changed, examples: found.examples }} />
      <p className="dim">{t.factsOfNow}</p>
    </>
  );
}

/** By what changes, and in that by who asked and for what: the same question is often asked. */
function Examples({ name, changed, examples }: { name: string; changed: number; examples: Example[] }) {
  const t = useTexts(texts);
  if (examples.length === 0) return null;
  const kinds = Map.groupBy(examples, ({ before, after }) => `${word(before?.outcome)} → ${word(after?.outcome)}`);
  return (
    <>
      <p className="dim">{t.examples(examples.length, changed)}</p>
      {[...kinds].map(([kind, ofKind]) => (
        <details key={kind} open={kinds.size < 3}>
          <summary>
            {kind} ({ofKind.length})
          </summary>
          <ul>
            {[...Map.groupBy(ofKind, (one) => askedBy(one) || t.somebody)].map(([asked, [newest, ...earlier]]) => (
              <li key={asked}>
                {newest && <Opened {...{ name, example: newest }}>{asked}</Opened>}
                {earlier.length > 0 && (
                  <details>
                    <summary className="dim">{t.earlier(earlier.length)}</summary>
                    <ul>
                      {earlier.map((one) => (
                        <li key={one.id}>
                          <Opened {...{ name, example: one }}>{asked}</Opened>
                        </li>
                      ))}
                    </ul>
                  </details>
                )}
              </li>
            ))}
          </ul>
        </details>
      ))}
    </>
  );
}

function Opened({ name, example: { id, time }, children }: { name: string; example: Example; children: ReactNode }) {
  return (
    <>
      <Link to={`/policies/${segment(name)}?decision=${segment(id)}`}>{children}</Link>{' '}
      <span className="dim">
        <RelativeTime at={time} />
      </span>
    </>
  );
}

const askedBy = ({ request }: Example) =>
  request && [request.subject, request.resource].flatMap((one) => (one ? [entityText(one)] : [])).join(' · ');
const word = (outcome: unknown) => (typeof outcome === 'string' ? outcome : outcome === undefined ? '…' : 'object');
