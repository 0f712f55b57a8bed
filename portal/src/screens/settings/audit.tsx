/** Who changed what of the configuration. */
import { Button } from '@mantine/core';
import { useFilters } from '../../core/address.ts';
import { usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useRecord } from '../../core/session-end.ts';
import { useTexts } from '../../core/texts.ts';
import {
  ChoiceFilter,
  CopyId,
  curl,
  DataTable,
  Facts,
  Filters,
  Icon,
  RelativeTime,
  ShowAs,
  SidePanel,
  TextFilter,
  useExport,
  WithPanel,
} from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { SettingsPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Entry = {
  id: string;
  time: string;
  actor: string;
  action: string;
  kind: string;
  name: string;
  revision?: string;
  requestId?: string;
  detail?: unknown;
};
const names = ['last', 'actor', 'action', 'kind', 'name'] as const;

export default function Audit() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [filters, set] = useFilters(names);
  const [opened, setOpened] = useRecord<Entry>();
  const { start, isBusy, shown } = useExport();
  const pages = usePages(['audit', tenant.code, filters], async (cursor, signal) => {
    const { data } = await api.get<{ entries: Entry[]; cursor?: string }>('/audit', {
      query: { ...filters, limit: 100, cursor },
      signal,
    });
    return { rows: data.entries, after: data.cursor };
  });
  const save = () =>
    start({ path: api.path('/audit/export', { ...filters, format: 'csv' }), name: `${tenant.code}-audit.csv` });
  return (
    <SettingsPage
      place="audit"
      about={t.auditAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/audit', filters))} />
          {mayDo(tenant.role, 'admin') && (
            <Button
              variant="default"
              disabled={isBusy}
              leftSection={<Icon name="download" />}
              onClick={() => void save()}
            >
              {t.exportCsv}
            </Button>
          )}
        </>
      }
    >
      <Filters
        onClear={() => set({ last: undefined, actor: undefined, action: undefined, kind: undefined, name: undefined })}
      >
        <ChoiceFilter
          label={t.last}
          {...(filters.last === undefined ? {} : { value: filters.last })}
          options={Object.entries(t.lasts).map(([value, label]) => ({ value, label }))}
          onChange={(last) => set({ last })}
        />
        {(['actor', 'action', 'kind', 'name'] as const).map((one) => (
          <TextFilter
            key={one}
            label={{ actor: t.actor, action: t.action, kind: t.objectKind, name: t.objectName }[one]}
            {...(filters[one] === undefined ? {} : { value: filters[one] })}
            onChange={(value) => set({ [one]: value })}
          />
        ))}
      </Filters>
      {shown}
      <WithPanel panel={opened && <Details entry={opened} onClose={() => setOpened(undefined)} />}>
        <DataTable
          label={t.audit}
          pages={pages}
          rowKey={({ id }) => id}
          onOpen={setOpened}
          {...(opened === undefined ? {} : { selected: opened.id })}
          empty={<p className="dim">{t.noAudit}</p>}
          columns={[
            { id: 'time', header: t.when, cell: ({ time }) => <RelativeTime at={time} /> },
            { id: 'actor', header: t.actor, cell: ({ actor }) => actor },
            { id: 'action', header: t.action, cell: ({ action }) => action },
            { id: 'kind', header: t.objectKind, cell: ({ kind }) => kind },
            { id: 'name', header: t.objectName, cell: ({ name }) => <span className="mono">{name}</span> },
          ]}
        />
      </WithPanel>
    </SettingsPage>
  );
}

function Details({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const t = useTexts(texts);
  return (
    <SidePanel label={t.detail} title={`${entry.action} ${entry.kind}`} onClose={onClose}>
      <Facts
        facts={[
          [t.objectName, <CopyId key="name" id={entry.name} max={60} />],
          [t.actor, entry.actor],
          [t.when, entry.time],
          [t.revision, entry.revision],
          [t.request, entry.requestId && <CopyId key="request" id={entry.requestId} max={40} />],
        ]}
      />
      {entry.detail !== undefined && <CodeBlock code={JSON.stringify(entry.detail, undefined, 2)} />}
    </SidePanel>
  );
}
