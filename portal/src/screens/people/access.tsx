/** What a person may do: resources by search, each checked by the policy, and the way to the explanation of one. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { segment } from '../../core/api.ts';
import { usePages } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Link, Notice, ProblemAlert } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { type Entity, entityOf, text } from './shapes.ts';
import { texts } from './texts.ts';

type Search = { action: string; resource: string };
const explainPath = (action: string, of: Entity, resource: Entity) =>
  `/policies/${segment(action)}?subject=${segment(text(of))}&resource=${segment(text(resource))}`;

export function Access({ of }: { of: Entity }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [asked, setAsked] = useState<Search>();
  const names = useQuery({
    queryKey: ['people', tenant.code, 'policy-names'],
    queryFn: async ({ signal }) =>
      (await api.get<{ resources: string[] }>('/policies', { query: { limit: 200 }, signal })).data.resources,
  });
  return (
    <section className="card stack" aria-label={t.access}>
      <h2>{t.access}</h2>
      <p className="dim">{t.accessAbout}</p>
      {names.error && <ProblemAlert error={names.error} onRetry={() => names.refetch()} />}
      <Ask names={names.data ?? []} of={of} onAsk={setAsked} />
      {asked && <Results key={`${asked.action} ${asked.resource}`} of={of} search={asked} />}
    </section>
  );
}

function Ask({ names, of, onAsk }: { names: readonly string[]; of: Entity; onAsk: (search: Search) => void }) {
  const t = useTexts(texts);
  const list = useId();
  const [action, setAction] = useState('');
  const [resource, setResource] = useState('');
  // By convention a policy is named after the type of its resource: car:drive.
  const type = action.includes(':') ? action.slice(0, action.indexOf(':')) : '';
  const target = entityOf(resource.trim(), type);
  const search = (event: FormEvent) => {
    event.preventDefault();
    onAsk({ action, resource: target.type || type });
  };
  return (
    <form className="person-form" onSubmit={search}>
      <label className="native">
        {t.action}
        <input list={list} required value={action} onChange={(event) => setAction(event.currentTarget.value)} />
      </label>
      <datalist id={list}>
        {names.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <label className="native">
        {t.resource}
        <input
          value={resource}
          placeholder={type === '' ? 'car/7' : `${type}/7`}
          onChange={(event) => setResource(event.currentTarget.value)}
        />
      </label>
      <div className="row">
        <Button type="submit" disabled={action === '' || (target.type || type) === ''}>
          {t.searchAccess}
        </Button>
        {action !== '' && target.type !== '' && target.id !== '' && (
          <Link to={explainPath(action, of, target)}>{t.explainAccess}</Link>
        )}
      </div>
    </form>
  );
}

type Undecided = { reason: string; count: number }[];
type ResultPage = { results: Entity[]; page: { next_token: string }; context?: { undecided: Undecided } };

function Results({ of, search: { action, resource } }: { of: Entity; search: Search }) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const pages = usePages(['people', tenant.code, of, 'access', action, resource], async (token, signal) => {
    const page = { limit: 20, ...(token === undefined ? {} : { token }) };
    const body = { subject: of, action: { name: action }, resource: { type: resource }, page };
    const { data } = await api.post<ResultPage>('/access/v1/search/resource', { body, signal });
    return { rows: data.results, after: data.page.next_token || undefined, undecided: data.context?.undecided ?? [] };
  });
  if (pages.error) return <ProblemAlert error={pages.error} onRetry={pages.retry} />;
  const undecided = pages.pages.flatMap((one) => one.undecided);
  const isNone = pages.rows.length === 0 && undecided.length === 0;
  return (
    <div role="status" aria-busy={pages.isLoading}>
      {pages.isLoading ? ui.loading : isNone && <p>{t.noAccess(text(of), action, resource)}</p>}
      {[...new Set(undecided.map(({ reason }) => reason))].map((reason) => {
        const those = undecided.filter((one) => one.reason === reason);
        const count = those.reduce((sum, one) => sum + one.count, 0);
        return <Notice key={reason}>{t.undecided(count, resource, reason)}</Notice>;
      })}
      <ul className="person-list">
        {pages.rows.map((one) => (
          <li key={text(one)}>
            <span className="mono">{text(one)}</span>
            <Link to={explainPath(action, of, one)}>{t.explain}</Link>
          </li>
        ))}
      </ul>
      {pages.hasMore && (
        <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
          {ui.loadMore}
        </Button>
      )}
    </div>
  );
}
