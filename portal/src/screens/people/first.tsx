/** Finding a person: by id, by the beginning of an id, or by a whole address. */
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useFilters, useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, DataTable, Empty, Icon, Link, Notice, PageHeader, ShowAs, State } from '../../ui/index.ts';
import { findPeople, searchBy } from './find.ts';
import { MayNot } from './may-not.tsx';
import { text } from './shapes.ts';
import { texts } from './texts.ts';
import './people.css';

export default function People() {
  const { tenant } = useTenant();
  return mayDo(tenant.role, 'records') ? <Search /> : <MayNot />;
}

function Search() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const go = useGo();
  const isSupport = tenant.role === 'support';
  const [{ q, type }, set] = useFilters(['q', 'type']);
  const by = searchBy(tenant.role, q ?? '');
  const pages = usePages(
    ['people', tenant.code, 'search', q, type],
    async (cursor, signal) => {
      const found = await findPeople(api, { q: q ?? '', type, cursor, role: tenant.role, limit: 50 }, signal);
      return { rows: found.people, after: found.cursor };
    },
    { enabled: q !== undefined },
  );
  return (
    <>
      <PageHeader
        title={t.title}
        about={t.about}
        actions={<ShowAs curl={curl(api.path('/people', { [by]: q ?? 'alice', type }))} />}
      />
      <div className="stack">
        <SearchForm key={q} q={q} type={type} isSupport={isSupport} onSearch={set} />
        {isSupport && <Notice>{t.supportSearch}</Notice>}
        {q === undefined ? (
          <Empty sentence={t.searchFirst} call={curl(api.path('/people', { idPrefix: 'ali' }))} />
        ) : (
          <DataTable
            label={t.found}
            pages={pages}
            rowKey={text}
            onOpen={(one) => go(`/people/${segment(one.type)}/${segment(one.id)}`)}
            empty={<Nobody {...{ q, type }} call={curl(api.path('/people', { [by]: q, type }))} />}
            columns={[
              { id: 'id', header: t.id, cell: ({ id }) => <span className="mono">{id}</span> },
              { id: 'type', header: t.type, cell: (one) => one.type },
              { id: 'by', header: t.foundBy, cell: (one) => <State tone="none">{t.by[one.by]}</State> },
            ]}
          />
        )}
      </div>
    </>
  );
}

/** An address that was invited and did not accept belongs to no actor: erasing it is what the API has of it. */
function Nobody({ q, type = 'user', call }: { q: string; type: string | undefined; call: string }) {
  const t = useTexts(texts);
  const { role } = useTenant().tenant;
  const isAddress = searchBy(role, q) === 'email';
  const erase = isAddress && mayDo(role, 'admin') && (
    <Link to={`/people/${segment(type)}/${segment(q)}?erase=1`}>{t.eraseWhatIsKept}</Link>
  );
  return <Empty sentence={isAddress ? t.nobodyYet(q) : t.nobody(q)} action={erase} call={call} />;
}

type FormProps = {
  q?: string;
  type?: string;
  isSupport: boolean;
  onSearch: (to: { q?: string; type?: string }) => void;
};

function SearchForm({ q = '', type, isSupport, onSearch }: FormProps) {
  const t = useTexts(texts);
  const [typed, setTyped] = useState(q);
  const types = useActorTypes();
  const search = (event: FormEvent) => {
    event.preventDefault();
    onSearch({ q: typed.trim() });
  };
  return (
    <search>
      <form className="search-form" onSubmit={search}>
        <TextInput
          className="wide"
          label={isSupport ? t.searchId : t.search}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <label className="native">
          {t.type}
          <select value={type ?? ''} onChange={(event) => onSearch({ type: event.currentTarget.value })}>
            <option value="">{t.defaultType}</option>
            {types.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <Button type="submit" leftSection={<Icon name="search" />}>
          {t.find}
        </Button>
      </form>
    </search>
  );
}

function useActorTypes(): string[] {
  const { tenant, api } = useTenant();
  const { data } = useQuery({
    queryKey: ['people', tenant.code, 'actor-types'],
    queryFn: async ({ signal }) => (await api.get<{ resources: string[] }>('/actor-types', { signal })).data.resources,
  });
  return data ?? [];
}
