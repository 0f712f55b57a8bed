/** The ledger of consents: search, verify, export. */
import { useFilters } from '../../core/address.ts';
import { readOnce, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useRecord } from '../../core/session-end.ts';
import { useTexts } from '../../core/texts.ts';
import {
  ChoiceFilter,
  CopyId,
  curl,
  DataTable,
  Empty,
  Facts,
  Filters,
  Icon,
  Menu,
  MenuItem,
  RelativeTime,
  ShowAs,
  SidePanel,
  State,
  TextFilter,
  useExport,
  WithPanel,
} from '../../ui/index.ts';
import { ConsentsPage } from './tabs.tsx';
import { texts } from './texts.ts';
import { Verify } from './verify.tsx';

type Entry = {
  id: string;
  sequence?: number;
  time: string;
  type: 'read' | 'invited' | 'registered' | 'revoked' | 'refused' | 'exported' | 'erased' | 'denied';
  actor?: { type: string; id: string };
  userId?: string;
  name?: string;
  version?: string;
  document?: { version?: string; language?: string };
  contentDigest?: string;
  outcome: string;
  requestId: string;
  clientId?: string;
  reason?: string;
};
const names = ['last', 'type', 'name', 'userId'] as const;

export default function Ledger() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [filters, set] = useFilters(names);
  const [opened, setOpened] = useRecord<Entry>();
  const { start, isBusy, shown } = useExport();
  const isSupport = tenant.role === 'support';
  const pages = usePages(
    ['consents', tenant.code, 'ledger', filters],
    async (cursor, signal) => {
      const { data } = await api.get<{ logs: Entry[]; cursor?: string }>('/consents/events', {
        query: { ...filters, limit: 100, cursor },
        signal,
      });
      return { rows: data.logs, after: data.cursor };
    },
    readOnce, // each page is an entry of the ledger itself
  );
  const save = (format: 'csv' | 'ndjson') =>
    start({ path: api.path('/consents/export', { ...filters, format }), name: `${tenant.code}-ledger.${format}` });
  return (
    <ConsentsPage
      title={t.ledger}
      about={isSupport ? t.ledgerMasked : t.ledgerAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/consents/events', filters))} />
          {mayDo(tenant.role, 'admin') && !isBusy && (
            <Menu
              label={t.export}
              className="plain chip"
              button={
                <>
                  <Icon name="download" /> {t.export} <Icon name="chevronDown" size={12} />
                </>
              }
            >
              <MenuItem onChoose={() => void save('csv')}>CSV</MenuItem>
              <MenuItem onChoose={() => void save('ndjson')}>NDJSON</MenuItem>
            </Menu>
          )}
        </>
      }
    >
      <Verify />
      <Filters onClear={() => set({ last: undefined, type: undefined, name: undefined, userId: undefined })}>
        <ChoiceFilter
          label={t.last}
          {...(filters.last === undefined ? {} : { value: filters.last })}
          options={Object.entries(t.lasts).map(([value, label]) => ({ value, label }))}
          onChange={(last) => set({ last })}
        />
        <ChoiceFilter
          label={t.type}
          {...(filters.type === undefined ? {} : { value: filters.type })}
          options={Object.entries(t.types).map(([value, label]) => ({ value, label }))}
          onChange={(type) => set({ type })}
        />
        <TextFilter label={t.definition} value={filters.name ?? ''} onChange={(name) => set({ name })} />
        {!isSupport && (
          <TextFilter label={t.user} value={filters.userId ?? ''} onChange={(userId) => set({ userId })} />
        )}
      </Filters>
      {shown}
      <WithPanel panel={opened && <Details entry={opened} onClose={() => setOpened(undefined)} />}>
        <DataTable
          label={t.ledger}
          pages={pages}
          rowKey={({ id }) => id}
          onOpen={setOpened}
          {...(opened === undefined ? {} : { selected: opened.id })}
          empty={<Empty sentence={t.noEntries} />}
          columns={[
            { id: 'time', header: t.when, cell: ({ time }) => <RelativeTime at={time} /> },
            {
              id: 'type',
              header: t.type,
              cell: ({ type }) => <State tone={type === 'denied' ? 'bad' : 'none'}>{t.types[type]}</State>,
            },
            { id: 'user', header: t.user, cell: ({ userId }) => userId !== undefined && <CopyId id={userId} /> },
            { id: 'about', header: t.entryAbout, cell: (entry) => aboutOf(entry) },
            { id: 'outcome', header: t.outcome, cell: ({ outcome }) => outcome },
            { id: 'sequence', header: t.sequence, numeric: true, cell: ({ sequence }) => sequence ?? t.notSealed },
          ]}
        />
      </WithPanel>
    </ConsentsPage>
  );
}

const aboutOf = ({ name, version, document }: Entry) =>
  [name, version, document?.version, document?.language].filter(Boolean).join(' ');

function Details({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const t = useTexts(texts);
  const facts: [string, string | undefined][] = [
    [t.when, entry.time],
    [t.sequence, entry.sequence === undefined ? t.notSealed : String(entry.sequence)],
    [t.actor, entry.actor && `${entry.actor.type} ${entry.actor.id}`],
    [t.user, entry.userId],
    [t.entryAbout, aboutOf(entry)],
    [t.outcome, entry.outcome],
    [t.reason, entry.reason],
    [t.digest, entry.contentDigest],
    [t.client, entry.clientId],
    [t.request, entry.requestId],
    [t.entryId, entry.id],
  ];
  return (
    <SidePanel label={t.entry} title={t.types[entry.type]} onClose={onClose}>
      <Facts facts={facts} />
    </SidePanel>
  );
}
