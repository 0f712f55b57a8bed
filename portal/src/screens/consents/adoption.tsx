/** How far users have come to the newer versions, who is left, and when their grace ends. */
import { useQuery } from '@tanstack/react-query';
import { segment } from '../../core/api.ts';
import { usePages } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useLanguage, useTexts } from '../../core/texts.ts';
import { CopyId, curl, DataTable, Link, ProblemAlert, RelativeTime, ShowAs, SidePanel, State } from '../../ui/index.ts';
import type { Open } from './definition.tsx';
import { pathOfDefinition, pathOfVersion } from './shapes.ts';
import { texts } from './texts.ts';

type Row = {
  version: string;
  active: boolean;
  users: { language: string; count: number }[];
  invited: number;
  endOfLife?: { startDate: string; endDate: string };
  graceEnds?: { first: string; last: string };
};

export function Adoption({ name, onOpen }: { name: string; onOpen: (open: Open) => void }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const { tenant, api } = useTenant();
  const path = `${pathOfDefinition(name)}/adoption`;
  const found = useQuery({
    queryKey: ['consents', tenant.code, 'adoption', name],
    queryFn: async ({ signal }) => (await api.get<{ countedAt: string; versions: Row[] }>(path, { signal })).data,
  });
  const number = (count: number) => count.toLocaleString(language);
  return (
    <section className="stack">
      <div className="row">
        <h2>{t.adoption}</h2>
        <ShowAs curl={curl(api.path(path))} />
      </div>
      <p className="dim">{t.adoptionAbout}</p>
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {found.data && (
        <p className="dim">
          {t.counted} <RelativeTime at={found.data.countedAt} />
        </p>
      )}
      {found.data && (
        <DataTable
          label={t.adoption}
          pages={{ rows: found.data.versions }}
          rowKey={({ version }) => version}
          columns={[
            { id: 'version', header: t.version, cell: ({ version }) => version },
            {
              id: 'state',
              header: t.state,
              cell: ({ active, endOfLife }) =>
                active ? <State tone="ok">{t.offered}</State> : endOfLife ? <State tone="warn">{t.ending}</State> : '',
            },
            {
              id: 'users',
              header: t.users,
              numeric: true,
              cell: ({ users }) => number(users.reduce((sum, { count }) => sum + count, 0)),
            },
            {
              id: 'languages',
              header: t.byLanguage,
              cell: ({ users }) => users.map((one) => `${one.language} ${number(one.count)}`).join(', '),
            },
            { id: 'invited', header: t.invited, numeric: true, cell: ({ invited }) => number(invited) },
            {
              id: 'grace',
              header: t.graceEnds,
              cell: ({ graceEnds }) => graceEnds && <GraceEnds {...graceEnds} />,
            },
            {
              id: 'actions',
              header: '',
              cell: ({ version }) => (
                <button type="button" className="plain chip" onClick={() => onOpen({ kind: 'left', version })}>
                  {t.whoIsLeft}
                </button>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

const GraceEnds = ({ first, last }: { first: string; last: string }) => (
  <>
    <RelativeTime at={first} />
    {first !== last && (
      <>
        {' – '}
        <RelativeTime at={last} />
      </>
    )}
  </>
);

type User = {
  userId: string;
  document: { version: string; language: string };
  givenAt: string;
  invitedAt?: string;
  gracePeriodEnds?: string;
};

export function Remaining({ name, version, onClose }: { name: string; version: string; onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const path = `${pathOfVersion(name, version)}/remaining`;
  const pages = usePages(['consents', tenant.code, 'remaining', name, version], async (cursor, signal) => {
    const { data } = await api.get<{ users: User[]; cursor?: string }>(path, { query: { limit: 100, cursor }, signal });
    return { rows: data.users, after: data.cursor };
  });
  return (
    <SidePanel label={t.whoIsLeft} title={t.leftWith(version)} onClose={onClose}>
      <div className="stack">
        <p className="dim">{t.leftAbout}</p>
        <DataTable
          label={t.whoIsLeft}
          pages={pages}
          rowKey={({ userId }) => userId}
          empty={<p>{t.nobodyLeft}</p>}
          columns={[
            { id: 'user', header: t.user, cell: ({ userId }) => <CopyId id={userId} /> },
            { id: 'given', header: t.agreedAt, cell: ({ givenAt }) => <RelativeTime at={givenAt} /> },
            {
              id: 'grace',
              header: t.graceEnds,
              cell: ({ invitedAt, gracePeriodEnds }) =>
                gracePeriodEnds ? <RelativeTime at={gracePeriodEnds} /> : invitedAt ? '' : t.notInvitedYet,
            },
          ]}
        />
        <Link to={`/consents/given?name=${segment(name)}&version=${segment(version)}`}>{t.allGiven}</Link>
      </div>
    </SidePanel>
  );
}
