/** All policies: what each is, who owns it, whether it is served, and who changed it last. */
import { Button } from '@mantine/core';
import './policies.css';
import { useFilters, useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { type Connection, pageOf, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import {
  type Column,
  curl,
  DataTable,
  Empty,
  Filters,
  Icon,
  Link,
  Notice,
  PageHeader,
  RelativeTime,
  ShowAs,
  State,
  TextFilter,
  WithPanel,
} from '../../ui/index.ts';
import { LibraryPanel } from './library-panel.tsx';
import { manifestOf } from './manifest.ts';
import { NewPolicy } from './new-policy.tsx';
import { Served } from './served.tsx';
import { type Refused, type Serving, useRefused, useServing } from './serving.ts';
import { templateOf } from './templates.ts';
import type { Texts } from './texts.en.ts';
import { texts } from './texts.ts';

type Row = {
  name: string;
  revision: number;
  drawn: boolean;
  managedBy: string;
  updatedAt: string;
  updatedBy: string;
};

/** All, or those that the search finds. */
function usePolicies(q: string | undefined) {
  const { tenant, api } = useTenant();
  const all = usePages(
    ['policies', tenant.code],
    async (after, signal) =>
      pageOf((await api.graphql<{ allPolicies: Connection<Row> }>('policies', { after }, signal)).allPolicies),
    { enabled: q === undefined },
  );
  const found = usePages(
    ['policies', tenant.code, 'found', q],
    async (cursor, signal) => {
      const query = { q, cursor, limit: 100 };
      const { data } = await api.get<{ resources: string[]; cursor?: string }>('/policies', { query, signal });
      const names = data.resources;
      if (names.length === 0) return { rows: [], after: data.cursor };
      const { allPolicies } = await api.graphql<{ allPolicies: { nodes: Row[] } }>('policiesNamed', { names }, signal);
      return { rows: allPolicies.nodes, after: data.cursor };
    },
    { enabled: q !== undefined },
  );
  return q === undefined ? all : found;
}

export default function Policies() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const go = useGo();
  const [filters, setFilters] = useFilters(['q', 'new', 'library']);
  const pages = usePolicies(filters.q);
  const refused = useRefused();
  const serving = useServing();
  const mayEdit = mayDo(tenant.role, 'edit');
  const open = (name: string) => go(`/policies/${segment(name)}`);
  const create = mayEdit && (
    <Button leftSection={<Icon name="plus" />} onClick={() => setFilters({ new: '1', library: undefined })}>
      {t.newPolicy}
    </Button>
  );
  const panel =
    filters.new !== undefined && mayEdit ? (
      <NewPolicy onClose={() => setFilters({ new: undefined })} />
    ) : filters.library !== undefined ? (
      <LibraryPanel module={filters.library} onClose={() => setFilters({ library: undefined })} />
    ) : undefined;
  return (
    <>
      <PageHeader
        title={t.title}
        about={t.about}
        actions={
          <>
            <ShowAs curl={curl(api.path('/policies', { q: filters.q }))} graphql={listQuery} />
            {create}
          </>
        }
      />
      <WithPanel panel={panel}>
        <RefusedManifests refused={refused} />
        {(pages.rows.length > 0 || filters.q !== undefined) && (
          <Filters onClear={filters.q === undefined ? undefined : () => setFilters({ q: undefined })}>
            <TextFilter label={t.search} value={filters.q} onChange={(q) => setFilters({ q })} />
          </Filters>
        )}
        <DataTable
          label={t.title}
          columns={columnsOf(t, { refused, serving })}
          pages={pages}
          rowKey={(row) => row.name}
          onOpen={(row) => open(row.name)}
          empty={filters.q === undefined ? <NoPolicies action={create} tenant={tenant.code} /> : undefined}
        />
      </WithPanel>
    </>
  );
}

const listQuery = `query {
  allPolicies(first: 100) {
    nodes { name revision drawn managedBy updatedAt updatedBy }
  }
}`;

function NoPolicies({ action, tenant }: { action: React.ReactNode; tenant: string }) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const policy = 'car:drive';
  const draft = { ...templateOf('related', policy), tests: [] };
  const body = { rego: 'rego' in draft ? draft.rego : '' };
  return (
    <Empty
      sentence={t.none}
      action={action}
      call={curl(api.path(`/policies/${segment(policy)}`), { method: 'PUT', body })}
      manifest={manifestOf(draft, { tenant, policy })}
    />
  );
}

function RefusedManifests({ refused }: { refused: readonly Refused[] }) {
  const t = useTexts(texts);
  if (refused.length === 0) return null;
  return (
    <Notice tone="bad">
      <strong>{t.refused(refused.length)}</strong>
      <ul>
        {refused.map(({ owner, message, generation, serves }) => (
          <li key={owner}>
            {owner}: {message} · {serves === undefined ? t.servesNothing : t.servesOlder(generation, serves)}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

type About = { refused: readonly Refused[]; serving: ((policy: string) => Serving) | undefined };

function columnsOf(t: Texts, { refused, serving }: About): Column<Row>[] {
  return [
    {
      id: 'name',
      header: t.name,
      cell: ({ name }) => (
        <Link className="policy-name" to={`/policies/${segment(name)}`}>
          {name}
        </Link>
      ),
    },
    {
      id: 'kind',
      header: t.kind,
      cell: ({ drawn }) => <span className="policy-kind">{drawn ? t.drawn : t.rego}</span>,
    },
    { id: 'managedBy', header: t.managedBy, cell: ({ managedBy }) => <Owner of={managedBy} /> },
    {
      id: 'state',
      header: t.state,
      cell: ({ managedBy }) => {
        const failing = refused.find(({ owner }) => owner === managedBy);
        if (failing === undefined) return <State tone="ok">{t.compiles}</State>;
        return (
          <span title={failing.message}>
            <State tone="bad">{t.keepsOlder}</State>
          </span>
        );
      },
    },
    { id: 'revision', header: t.revision, numeric: true, cell: ({ revision }) => revision },
    { id: 'servers', header: t.servers, cell: ({ name }) => <Served by={serving?.(name)} /> },
    {
      id: 'updated',
      header: t.updated,
      cell: ({ updatedAt, updatedBy }) => (
        <>
          <RelativeTime at={updatedAt} /> <span className="dim">{updatedBy}</span>
        </>
      ),
    },
  ];
}

function Owner({ of }: { of: string }) {
  const t = useTexts(texts);
  if (of === 'api') return <span className="dim">{t.api}</span>;
  return (
    <span>
      <Icon name="lock" size={14} /> {of}
    </span>
  );
}
