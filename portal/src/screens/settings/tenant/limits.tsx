/** What bounds the tenant, and how much of it is used. */
import { useQuery } from '@tanstack/react-query';
import { mayDo, useTenant } from '../../../core/session.ts';
import { useLanguage, useTexts } from '../../../core/texts.ts';
import { Owned } from '../../../manifests/index.ts';
import { curl, DataTable, ProblemAlert, ShowAs, State } from '../../../ui/index.ts';
import { SettingsPage } from '../tabs.tsx';
import { ofTenant, tenantPart } from './manifest.ts';
import { texts } from './texts.ts';

const names = ['maxPolicies', 'maxRelationships', 'maxRequestsPerSecond', 'callerRequestsPerSecond'] as const;
const isOfTenant = (name: (typeof names)[number]) => name !== 'callerRequestsPerSecond';
type Limits = Record<(typeof names)[number], { limit?: number; used?: number }> & { managedBy: string };

export default function LimitsPage() {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['limits', tenant.code],
    queryFn: async ({ signal }) => (await api.get<Limits>('/limits', { signal })).data,
  });
  const limits = found.data;
  const own = names.filter((name) => isOfTenant(name) && limits?.[name].limit !== undefined);
  const manifest = tenantPart(tenant.code, {
    limits: Object.fromEntries(own.map((name) => [name, limits?.[name].limit])),
  });
  const number = (value: number | undefined) => value?.toLocaleString(language);
  return (
    <SettingsPage
      place="limits"
      about={t.limitsAbout}
      actions={<ShowAs curl={curl(api.path('/limits'))} manifest={manifest} />}
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {limits && (
        <>
          <Owned
            of={ofTenant(tenant.code)}
            owner={limits.managedBy}
            may="admin"
            isReadable={mayDo(tenant.role, 'admin')}
          />
          <DataTable
            label={t.limitsAbout}
            pages={{ rows: names.map((name) => ({ name, ...limits[name] })) }}
            rowKey={({ name }) => name}
            columns={[
              { id: 'name', header: t.limit, width: '240px', cell: ({ name }) => <span className="mono">{name}</span> },
              { id: 'bounds', header: t.bounds, cell: ({ name }) => t.names[name] },
              {
                ...{ id: 'set', header: t.setIn },
                cell: ({ name }) =>
                  isOfTenant(name) ? (
                    <>
                      {t.inTenant} <code>limits.{name}</code>
                    </>
                  ) : (
                    <>
                      {t.inInstallation} <code>ACCORD_RATE_LIMIT</code>
                    </>
                  ),
              },
              { id: 'used', header: t.used, numeric: true, cell: ({ used }) => number(used) },
              {
                ...{ id: 'most', header: t.most, numeric: true },
                cell: ({ limit, used }) =>
                  limit !== undefined && used !== undefined && used >= limit ? (
                    <State tone="warn">{number(limit)}</State>
                  ) : (
                    (number(limit) ?? t.none)
                  ),
              },
            ]}
          />
        </>
      )}
    </SettingsPage>
  );
}
