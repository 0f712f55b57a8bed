/** The neighbourhood of one actor or resource: drawn, listed, followed by click; and who may do what with it. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useId, useMemo, useState } from 'react';
import { useFilters } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { type Pages, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { useModel } from '../../model/load.ts';
import { keyOf, type Names, Relation, useNames } from '../../model/names.tsx';
import { type Entity, entityOf, type Relationship, said, text } from '../../model/shapes.ts';
import { curl, DataTable, Empty, Icon, Link, Notice, RelativeTime, ShowAs, WithPanel } from '../../ui/index.ts';
import { AddRelationship } from './add-relationship.tsx';
import { EndRelationship } from './end-relationship.tsx';
import { Flow } from './flow.tsx';
import type { Box, Line } from './flow-layout.ts';
import { ModelPage } from './page.tsx';
import { texts } from './texts.ts';
import { WhoMay } from './who-may.tsx';

/** More boxes are not a picture any longer; the lists have all. */
const drawnMax = 24;

export default function Explorer() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [filters, setFilters] = useFilters(['type', 'id', 'relationship', 'add', 'to']);
  const { type = '', id = '', relationship, add, to } = filters;
  const notOffered = { add: undefined, to: undefined };
  const set = (to: Entity) => setFilters({ ...to, relationship: undefined, ...notOffered });
  const [isOpened, setAdding] = useState(false);
  const isAdding = mayDo(tenant.role, 'admin') && (isOpened || add !== undefined);
  const stopAdding = () => {
    setAdding(false);
    if (add !== undefined) setFilters(notOffered);
  };
  const of = useMemo(() => ({ type, id }), [type, id]);
  const isChosen = type !== '' && id !== '';
  const example = isChosen ? of : { type: 'user', id: 'alice' };
  return (
    <ModelPage
      place="relationships"
      about={t.explorerAbout}
      actions={
        <>
          <ShowAs
            curl={curl(api.path(`/actors/${segment(example.type)}/${segment(example.id)}/relationships`))}
            graphql={`{ "document": "relationshipsAround", "variables": ${JSON.stringify(example)} }`}
          />
          {mayDo(tenant.role, 'admin') && (
            <Button leftSection={<Icon name="plus" />} onClick={() => setAdding(true)}>
              {t.addRelationship}
            </Button>
          )}
        </>
      }
    >
      <Choose key={text(of)} of={of} onChoose={set} />
      <WithPanel
        panel={
          isAdding && (
            <AddRelationship key={add} from={isChosen ? of : undefined} name={add} toId={to} onClose={stopAdding} />
          )
        }
      >
        {isChosen ? (
          <Around key={text(of)} of={of} marked={relationship} onFollow={set} />
        ) : (
          <Empty
            sentence={t.chooseFirst}
            call={curl(api.path('/actors/user/alice/relationships'), {
              method: 'POST',
              body: { relationshipType: 'drives', to: { type: 'car', id: '7' } },
            })}
          />
        )}
      </WithPanel>
    </ModelPage>
  );
}

/** Ids of the type that begin with what was typed, of what is registered or related. Support searches nobody. */
function useIds(type: string, typed: string): string[] {
  const { tenant, api } = useTenant();
  const [idPrefix, setPrefix] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setPrefix(typed.trim()), 200);
    return () => clearTimeout(timer);
  }, [typed]);
  const { data = [] } = useQuery({
    queryKey: ['people', tenant.code, 'ids', type, idPrefix],
    enabled: type !== '' && idPrefix !== '' && tenant.role !== 'support' && mayDo(tenant.role, 'records'),
    queryFn: async ({ signal }) => {
      const query = { type, idPrefix, limit: 20 };
      return (await api.get<{ people: { id: string }[] }>('/people', { query, signal })).data.people;
    },
  });
  return data.map(({ id }) => id);
}

function Choose({ of, onChoose }: { of: Entity; onChoose: (to: Entity) => void }) {
  const t = useTexts(texts);
  const { data } = useModel();
  const names = data?.types.map(({ spec }) => spec.name) ?? [];
  const [type, setType] = useState(of.type);
  const [id, setId] = useState(of.id);
  const chosen = type || names[0] || '';
  const list = useId();
  const ids = useIds(chosen, id === of.id ? '' : id);
  const options = chosen === '' || names.includes(chosen) ? names : [chosen, ...names];
  const choose = (event: FormEvent) => {
    event.preventDefault();
    if (chosen !== '' && id.trim() !== '') onChoose({ type: chosen, id: id.trim() });
  };
  return (
    <search>
      <form className="inline-form" onSubmit={choose}>
        <label className="field">
          {t.type}
          <select value={chosen} onChange={(event) => setType(event.currentTarget.value)}>
            {options.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label className="field">
          {t.id}
          <input list={list} value={id} onChange={(event) => setId(event.currentTarget.value)} />
        </label>
        <datalist id={list}>
          {ids.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <Button type="submit" leftSection={<Icon name="search" />}>
          {t.show}
        </Button>
      </form>
    </search>
  );
}

type Listed = { relationshipType: string; from?: Entity; to?: Entity; expiresAt?: string };

function useSide(of: Entity, side: 'from' | 'to'): Pages<Relationship> {
  const { tenant, api } = useTenant();
  const path = `/${side === 'from' ? 'actors' : 'resources'}/${segment(of.type)}/${segment(of.id)}/relationships`;
  return usePages(['model', tenant.code, 'around', of, side], async (cursor, signal) => {
    const { data } = await api.get<{ relationships: Listed[]; cursor?: string }>(path, {
      query: { cursor, limit: 50 },
      signal,
    });
    return { rows: data.relationships.map((one) => ({ from: of, to: of, ...one })), after: data.cursor };
  });
}

function drawing(
  of: Entity,
  out: readonly Relationship[],
  into: readonly Relationship[],
  names: Names,
): { boxes: Box[]; lines: Line[]; count: number } {
  // What leads from a thing to itself is in both lists.
  const all = [...new Map([...out, ...into].map((one) => [said(one), one])).values()];
  const others = new Map<string, Entity>();
  for (const { from, to } of all) for (const one of [from, to]) if (text(one) !== text(of)) others.set(text(one), one);
  const shown = [...others].slice(0, drawnMax);
  const kept = new Set([text(of), ...shown.map(([key]) => key)]);
  const box = (one: Entity, look: Box['look']): Box => ({
    id: text(one),
    title: one.id,
    detail: names(one.type),
    look,
  });
  return {
    count: all.length,
    boxes: [box(of, 'centre'), ...shown.map(([, one]) => box(one, 'type'))],
    lines: all
      .filter(({ from, to }) => kept.has(text(from)) && kept.has(text(to)))
      .map(({ from, to, relationshipType }) => ({
        from: text(from),
        to: text(to),
        label: names(keyOf({ from, to, relationshipType })),
      })),
  };
}

/** `marked`: the relationship that a page linked to. */
type AroundProps = { of: Entity; marked: string | undefined; onFollow: (to: Entity) => void };

function Around({ of, marked, onFollow }: AroundProps) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const [ending, setEnding] = useState<Relationship>();
  const model = useModel().data;
  const names = useNames(model);
  const out = useSide(of, 'from');
  const into = useSide(of, 'to');
  const { count, ...picture } = useMemo(
    () => drawing(of, out.rows, into.rows, names),
    [of, out.rows, into.rows, names],
  );
  const isSupport = tenant.role === 'support';
  const follow = (id: string) => {
    const to = entityOf(id);
    if (to !== undefined && id !== text(of)) onFollow(to);
  };
  const isActor = model?.types.some(({ kind, spec }) => kind === 'actor-types' && spec.name === of.type);
  return (
    <>
      {isActor && (
        <p>
          <Link to={`/people/${segment(of.type)}/${segment(of.id)}`}>
            <Icon name="person" /> {t.openPerson(of.id)}
          </Link>
        </p>
      )}
      {isSupport && <Notice>{t.masked}</Notice>}
      {count > 0 && !isSupport && <Flow label={t.neighbourhood(text(of))} {...picture} onOpen={follow} />}
      {count > picture.lines.length && !isSupport && <p className="dim">{t.drawnOnly(drawnMax)}</p>}
      <div className="model-columns">
        <Side {...{ of, marked, onFollow }} side="from" pages={out} onEnd={setEnding} />
        <Side {...{ of, marked, onFollow }} side="to" pages={into} onEnd={setEnding} />
      </div>
      {!isSupport && <WhoMay of={of} />}
      {ending && <EndRelationship of={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

type SideProps = {
  of: Entity;
  side: 'from' | 'to';
  pages: Pages<Relationship>;
  marked: string | undefined;
  onFollow: (to: Entity) => void;
  onEnd: (one: Relationship) => void;
};

function Side({ of, side, pages, marked, onFollow, onEnd }: SideProps) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const title = side === 'from' ? t.leadsTo(text(of)) : t.reachedBy(text(of));
  const other = (one: Relationship) => (side === 'from' ? one.to : one.from);
  return (
    <section className="stack">
      <h2>{title}</h2>
      <DataTable
        label={title}
        pages={pages}
        rowKey={said}
        selected={marked}
        onOpen={tenant.role === 'support' ? undefined : (one) => onFollow(other(one))}
        empty={<p className="dim">{side === 'from' ? t.leadsNowhere : t.reachedByNobody}</p>}
        columns={[
          { id: 'relation', header: t.relation, cell: (one) => <Relation of={one} /> },
          {
            id: 'other',
            header: side === 'from' ? t.to : t.from,
            cell: (one) => <span className="mono">{text(other(one))}</span>,
          },
          { id: 'until', header: t.until, cell: ({ expiresAt }) => (expiresAt ? <RelativeTime at={expiresAt} /> : '') },
          ...(mayDo(tenant.role, 'admin')
            ? [
                {
                  id: 'end',
                  header: t.actions,
                  cell: (one: Relationship) => (
                    <button
                      type="button"
                      className="plain chip"
                      aria-label={`${t.end}: ${said(one)}`}
                      onClick={() => onEnd(one)}
                    >
                      {t.end}
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
    </section>
  );
}
