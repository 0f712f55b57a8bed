/** Who may do it, and what may it do: found by search, each checked by the policy; with export. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { csvLine } from '../../../../server/http/csv.ts';
import { usePages } from '../../core/query.ts';
import { saveFile } from '../../core/save-file.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { useModel } from '../../model/load.ts';
import { type Entity, partsOf, text } from '../../model/shapes.ts';
import { DataTable, Icon, ProblemAlert, Progress } from '../../ui/index.ts';
import { texts } from './texts.ts';
import { WhyPath } from './why-path.tsx';

type Direction = 'subject' | 'resource';
type Search = { direction: Direction; action: string; type: string };
type ResultPage = { results: Entity[]; page: { next_token: string } };

export function WhoMay({ of }: { of: Entity }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const list = useId();
  const { types, relationships } = useModel().data ?? { types: [], relationships: [] };
  const isActor = types.some(({ kind, spec }) => kind === 'actor-types' && spec.name === of.type);
  const [direction, setDirection] = useState<Direction>();
  const [action, setAction] = useState('');
  const [type, setType] = useState<string>();
  const [asked, setAsked] = useState<Search>();
  const which = direction ?? (isActor ? 'resource' : 'subject');
  // Those that most relationship types begin or end at come first: people and things rather than the groups between them.
  const end = which === 'subject' ? 'from' : 'to';
  const degree = (name: string) => relationships.filter(({ spec }) => partsOf(spec.name)[end] === name).length;
  const wanted = types
    .filter(({ kind }) => which === 'resource' || kind === 'actor-types')
    .map(({ spec }) => spec.name)
    .sort((a, b) => degree(b) - degree(a));
  const chosen =
    type !== undefined && wanted.includes(type)
      ? type
      : (wanted.find((one) => action.startsWith(`${one}:`)) ?? wanted[0] ?? '');
  const policies = useQuery({
    queryKey: ['model', tenant.code, 'policy-names'],
    queryFn: async ({ signal }) =>
      (await api.get<{ resources: string[] }>('/policies', { query: { limit: 200 }, signal })).data.resources,
  });
  const ask = (event: FormEvent) => {
    event.preventDefault();
    setAsked({ direction: which, action, type: chosen });
  };
  return (
    <section className="card stack" aria-label={t.whoMayTitle}>
      <h2>{t.whoMayTitle}</h2>
      <form className="inline-form" onSubmit={ask}>
        <label className="field">
          {t.question}
          <select value={which} onChange={(event) => setDirection(event.currentTarget.value as Direction)}>
            <option value="subject">{t.whoMayOn(text(of))}</option>
            <option value="resource">{t.whatMay(text(of))}</option>
          </select>
        </label>
        <label className="field">
          {t.action}
          <input required list={list} value={action} onChange={(event) => setAction(event.currentTarget.value)} />
        </label>
        <datalist id={list}>
          {policies.data?.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <label className="field">
          {t.ofType}
          <select value={chosen} onChange={(event) => setType(event.currentTarget.value)}>
            {wanted.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <Button type="submit">{t.search}</Button>
      </form>
      {asked && <Results key={JSON.stringify(asked)} of={of} search={asked} />}
    </section>
  );
}

function Results({ of, search }: { of: Entity; search: Search }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const { direction, action, type } = search;
  const pageOf = async (token: string | undefined, limit: number, signal?: AbortSignal) => {
    const asked = direction === 'subject' ? { subject: { type }, resource: of } : { subject: of, resource: { type } };
    const page = { limit, ...(token === undefined ? {} : { token }) };
    const body = { ...asked, action: { name: action }, page };
    const { data } = await api.post<ResultPage>(`/access/v1/search/${direction}`, { body, signal });
    return { rows: data.results, after: data.page.next_token || undefined };
  };
  const pages = usePages(['model', tenant.code, 'search', of, search], (token, signal) => pageOf(token, 50, signal));
  const [why, setWhy] = useState<Entity>();
  const pair = (one: Entity): [Entity, Entity] => (direction === 'subject' ? [one, of] : [of, one]);
  return (
    <div className="stack">
      <DataTable
        label={t.found(action)}
        pages={pages}
        rowKey={text}
        empty={<p className="dim">{t.nothingMay}</p>}
        columns={[
          {
            id: 'entity',
            header: direction === 'subject' ? t.whoTitle : t.whatTitle,
            cell: (one) => <span className="mono">{text(one)}</span>,
          },
          {
            id: 'why',
            header: t.actions,
            cell: (one) => (
              <button
                type="button"
                className="plain chip"
                aria-label={`${t.why} ${text(one)}`}
                aria-expanded={why !== undefined && text(why) === text(one)}
                onClick={() => setWhy(one)}
              >
                {t.why}
              </button>
            ),
          },
        ]}
      />
      {why && <WhyPath action={action} subject={pair(why)[0]} resource={pair(why)[1]} />}
      {pages.rows.length > 0 && (
        <ExportCsv name={`${tenant.code}-${action}`} load={pageOf} line={(one) => [...pair(one), action]} />
      )}
    </div>
  );
}

type ExportProps = {
  name: string;
  load: (token: string | undefined, limit: number, signal?: AbortSignal) => Promise<{ rows: Entity[]; after?: string }>;
  line: (one: Entity) => readonly (Entity | string)[];
};

function ExportCsv({ name, load, line }: ExportProps) {
  const t = useTexts(texts);
  const [done, setDone] = useState<number>();
  const [error, setError] = useState<unknown>();
  const [stop, setStop] = useState<AbortController>();
  const save = async () => {
    const abort = new AbortController();
    setStop(abort);
    setError(undefined);
    setDone(0);
    const rows = [csvLine(['subjectType', 'subjectId', 'resourceType', 'resourceId', 'action'])];
    try {
      let after: string | undefined;
      do {
        const page = await load(after, 200, abort.signal);
        for (const one of page.rows) {
          const cells = line(one).flatMap((part) => (typeof part === 'string' ? [part] : [part.type, part.id]));
          rows.push(csvLine(cells));
        }
        after = page.after;
        setDone(rows.length - 1);
      } while (after !== undefined);
      saveFile(`${name.replaceAll(/[^\w-]+/g, '-')}.csv`, rows.join(''), 'text/csv');
    } catch (caught) {
      if (!abort.signal.aborted) setError(caught);
    }
    setDone(undefined);
  };
  if (done !== undefined) return <Progress label={t.exporting} done={done} onCancel={() => stop?.abort()} />;
  return (
    <div>
      {error !== undefined && <ProblemAlert error={error} />}
      <Button variant="default" leftSection={<Icon name="download" />} onClick={save}>
        {t.exportCsv}
      </Button>
    </div>
  );
}
