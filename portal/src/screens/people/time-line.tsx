/** One time line of everything, newest first. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useFilters } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { keyOf, useTenantNames } from '../../model/names.tsx';
import { Empty, Icon, type IconName, Link, Notice, ProblemAlert, RelativeTime } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { InvitationActions } from './invitation-actions.tsx';
import { type Entity, type Item, type Kind, kinds, type Truncated, text } from './shapes.ts';
import { texts } from './texts.ts';

const icons: Record<Kind, IconName> = {
  relationship: 'link',
  invitation: 'mail',
  consent: 'consents',
  decision: 'policies',
  mail: 'mail',
  audit: 'clock',
};

export function TimeLine({ of }: { of: Entity }) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const [filters, set] = useFilters(['kinds']);
  const chosen = (filters.kinds?.split(',') ?? []).filter((one): one is Kind => kinds.includes(one as Kind));
  const pages = usePages(['people', tenant.code, of, 'timeline', chosen.join()], async (cursor, signal) => {
    const { data } = await api.get<{ items: Item[]; cursor?: string; truncated?: Truncated }>(
      `/people/${segment(of.type)}/${segment(of.id)}/timeline`,
      { query: { kinds: chosen.join(), cursor, limit: 50 }, signal },
    );
    return { rows: data.items, after: data.cursor, truncated: data.truncated };
  });
  const toggle = (kind: Kind) => {
    const next = chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind];
    set({ kinds: next.join() });
  };
  return (
    <section aria-labelledby="time-line" aria-busy={pages.isLoading}>
      <h2 id="time-line">{t.timeLine}</h2>
      <fieldset className="chips plain" aria-label={t.kindsShown}>
        {kinds.map((kind) => (
          <button
            key={kind}
            type="button"
            className={`plain chip ${chosen.includes(kind) ? 'on' : ''}`}
            aria-pressed={chosen.includes(kind)}
            onClick={() => toggle(kind)}
          >
            <Icon name={icons[kind]} /> {t.kinds[kind]}
          </button>
        ))}
      </fieldset>
      {pages.error && pages.rows.length === 0 && <ProblemAlert error={pages.error} onRetry={pages.reload} />}
      {!pages.isLoading && !pages.error && pages.rows.length === 0 && (
        <Empty sentence={chosen.length > 0 ? t.nothingOfKinds : t.nothingYet(text(of))} />
      )}
      {pages.pages[0]?.truncated?.map(({ kind, recordsMax }) => (
        <div key={kind} className="person-note">
          <Notice>{t.truncated(t.kinds[kind], recordsMax)}</Notice>
        </div>
      ))}
      <ol className="moments">
        {pages.rows.map((item) => (
          <Moment key={`${item.kind} ${item.id} ${item.at} ${item.what}`} item={item} />
        ))}
      </ol>
      {pages.hasMore && (
        <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
          {ui.loadMore}
        </Button>
      )}
      {pages.error && pages.rows.length > 0 && <ProblemAlert error={pages.error} onRetry={pages.retry} />}
    </section>
  );
}

function Moment({ item }: { item: Item }) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const [isOpen, setOpen] = useState(false);
  const tone = item.outcome === 'deny' || item.status === 'failed' ? 'bad' : item.outcome === 'allow' ? 'ok' : '';
  const more = [item.reason && t.reason(item.reason), item.by && t.doneBy(item.by)].filter(Boolean).join(' · ');
  return (
    <li>
      <Icon name={icons[item.kind]} />
      <span>
        <Sentence item={item} tone={tone} />
        {item.expiresAt !== undefined && item.kind === 'relationship' && (
          <span className="dim">
            {' '}
            · {t.until} <RelativeTime at={item.expiresAt} />
          </span>
        )}
      </span>
      <span className="moment-at">
        <RelativeTime at={item.at} />{' '}
        <button
          type="button"
          className="plain"
          aria-label={t.raw}
          title={t.raw}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} />
        </button>
      </span>
      {more !== '' && <span className="more">{more}</span>}
      <span className="moment-actions">
        {item.kind === 'decision' && item.action !== undefined && item.action !== '***' && (
          <Link className="chip" to={`/policies/${segment(item.action)}?decision=${segment(item.id)}`}>
            {t.explain}
          </Link>
        )}
        {item.kind === 'invitation' && item.status === 'pending' && mayDo(tenant.role, 'admin') && (
          <InvitationActions item={item} />
        )}
      </span>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
        <pre className="code more" tabIndex={0}>
          {JSON.stringify(item, undefined, 2)}
        </pre>
      )}
    </li>
  );
}

/** A row is a sentence. */
function Sentence({ item, tone }: { item: Item; tone: string }) {
  const t = useTexts(texts);
  const from = text(item.from ?? {});
  const to = text(item.to ?? {});
  const names = useTenantNames();
  const ends = { from: item.from ?? {}, to: item.to ?? {} };
  const relation =
    item.relationshipType === undefined ? '' : names(keyOf({ ...ends, relationshipType: item.relationshipType }));
  const status = t.statuses[item.status ?? ''] ?? item.status ?? '';
  switch (item.kind) {
    case 'relationship':
      return <>{t.related(from, relation, to)}</>;
    case 'invitation':
      return <>{(item.what === 'accepted' ? t.accepted : t.invited)(from, item.contact ?? '', relation, to, status)}</>;
    case 'consent':
      return <>{t.consented(item.what, item.name ?? '', item.version ?? '')}</>;
    case 'decision':
      return (
        <>
          <strong className={tone}>{t.outcomes[item.outcome as 'allow'] ?? item.outcome ?? item.what}</strong>:{' '}
          {t.asked(item.action ?? '', text(item.resource ?? {}))}
        </>
      );
    case 'mail':
      return <>{t.mailed(item.template ?? '', item.contact ?? '', item.status === undefined ? item.what : status)}</>;
    default:
      return <>{t.changed(item.what, item.objectKind ?? '', item.name ?? '')}</>;
  }
}
