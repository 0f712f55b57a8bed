/** What manifests own of the tenant, and whether it was applied. */
import { useState } from 'react';
import { usePages } from '../../../core/query.ts';
import { mayDo, type Role, useTenant } from '../../../core/session.ts';
import { useTexts } from '../../../core/texts.ts';
import { Owned } from '../../../manifests/index.ts';
import { curl, DataTable, Facts, RelativeTime, ShowAs, SidePanel, State, WithPanel } from '../../../ui/index.ts';
import { SettingsPage } from '../tabs.tsx';
import { texts } from './texts.ts';

type Condition = { type: string; status: 'True' | 'False' | 'Unknown'; reason?: string; message?: string };
type Manifest = {
  kind: string;
  namespace?: string;
  name: string;
  source: string;
  status: { conditions?: Condition[] } | null;
  updatedAt: string;
};
const keyOf = ({ kind, namespace = '', name }: Manifest) => `${kind} ${namespace}/${name}`;

export default function Manifests() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [opened, setOpened] = useState<Manifest>();
  const pages = usePages(['manifests', tenant.code], async (cursor, signal) => {
    const { data } = await api.get<{ resources: Manifest[]; cursor?: string }>('/resources', {
      query: { limit: 100, cursor },
      signal,
    });
    return { rows: data.resources, after: data.cursor };
  });
  return (
    <SettingsPage place="manifests" about={t.manifestsAbout} actions={<ShowAs curl={curl(api.path('/resources'))} />}>
      <WithPanel
        panel={opened && <Conditions key={keyOf(opened)} manifest={opened} onClose={() => setOpened(undefined)} />}
      >
        <DataTable
          label={t.manifestsAbout}
          pages={pages}
          rowKey={keyOf}
          {...(opened === undefined ? {} : { selected: keyOf(opened) })}
          onOpen={setOpened}
          empty={<p>{t.noManifests}</p>}
          columns={[
            { id: 'kind', header: t.kind, cell: ({ kind }) => kind },
            {
              ...{ id: 'name', header: t.name },
              cell: ({ namespace, name }) => (
                <span className="mono">{namespace === undefined ? name : `${namespace}/${name}`}</span>
              ),
            },
            { id: 'source', header: t.source, cell: ({ source }) => source },
            { id: 'state', header: t.condition, cell: (one) => <Ready manifest={one} /> },
            { id: 'changed', header: t.changed, cell: ({ updatedAt }) => <RelativeTime at={updatedAt} /> },
          ]}
        />
      </WithPanel>
    </SettingsPage>
  );
}

function Ready({ manifest: { status } }: { manifest: Manifest }) {
  const t = useTexts(texts);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return <State tone="ok">{t.ready}</State>;
  if (ready?.status === 'False')
    return <State tone="bad">{ready.reason === undefined ? t.notReady : `${t.notReady}: ${ready.reason}`}</State>;
  return <State tone="none">{t.unknown}</State>;
}

/** As the server has it: a Tenant is for security admins, and a data document may be of persons. */
const isReadable = (kind: string, role: Role) =>
  kind === 'Tenant' ? mayDo(role, 'admin') : !(kind === 'PolicyData' && role === 'support');

function Conditions({ manifest, onClose }: { manifest: Manifest; onClose: () => void }) {
  const { role } = useTenant().tenant;
  const { kind, name, namespace, source, status } = manifest;
  const path = namespace === undefined ? name : `${namespace}/${name}`;
  return (
    <SidePanel label={`${kind} ${name}`} title={`${kind} ${name}`} onClose={onClose}>
      <Owned
        of={{ kind, manifest: path }}
        owner={`${source} ${path}`}
        {...(kind === 'Tenant' && { may: 'admin' })}
        isReadable={isReadable(kind, role)}
      />
      <Facts
        facts={(status?.conditions ?? []).map((one) => [
          one.type,
          [one.status, one.reason, one.message].filter(Boolean).join(' · '),
        ])}
      />
    </SidePanel>
  );
}
