/** Applications of the tenant's own issuer. */
import { Button, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { isTaken } from '../../core/problem.ts';
import { queryClient, usePages, withObjects } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, DataTable, Empty, ProblemAlert, ShowAs, SidePanel, State, toast, WithPanel } from '../../ui/index.ts';
import { SettingsPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Kind = 'backend' | 'web' | 'spa';
const kinds: Record<Kind, object> = {
  backend: { grantTypes: ['client_credentials'], tokenEndpointAuthMethod: 'client_secret_basic' },
  web: { grantTypes: ['authorization_code', 'refresh_token'], tokenEndpointAuthMethod: 'client_secret_basic' },
  spa: { grantTypes: ['authorization_code', 'refresh_token'], tokenEndpointAuthMethod: 'none', applicationType: 'spa' },
};
type Listed = { displayName?: string; enabled: boolean; grantTypes: string[]; tokenEndpointAuthMethod: string };
const kindOf = ({ grantTypes, tokenEndpointAuthMethod }: Listed): Kind =>
  !grantTypes.includes('authorization_code') ? 'backend' : tokenEndpointAuthMethod === 'none' ? 'spa' : 'web';
const scopesOf: Record<Kind, readonly string[]> = {
  backend: [
    'authz:evaluate',
    'relationships:read',
    'relationships:write',
    'consents:read',
    'consents:write',
    'events:read',
    'mail:send',
    'pg:tenant:admin',
  ],
  web: ['openid', 'email', 'profile', 'offline_access', 'relationships', 'consents'],
  spa: ['openid', 'email', 'profile', 'offline_access', 'relationships', 'consents'],
};
const manifest = (tenant: string) => `apiVersion: accord.dev/v1alpha1
kind: OAuthClient
metadata: {name: back-end}
spec:
  tenantRef: {name: ${tenant}}
  clientId: back-end
  grantTypes: [client_credentials]
  scopes: [authz:evaluate]
  generateSecret: {name: back-end-secret}`;

export default function Clients() {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [isNew, setNew] = useState(false);
  const pages = usePages(['clients', tenant.code], async (cursor, signal) => {
    const { data } = await api.get<{ resources: string[]; cursor?: string }>('/clients', {
      query: { limit: 25, cursor },
      signal,
    });
    const rows = await withObjects(data.resources, tenant, (id) =>
      api.get<Listed>(`/clients/${segment(id)}`, { signal }),
    );
    return { rows, after: data.cursor };
  });
  const call = curl(api.path('/clients/back-end'), {
    method: 'PUT',
    body: { ...kinds.backend, scopes: ['authz:evaluate'] },
  });
  return (
    <SettingsPage
      place="clients"
      about={t.clientsAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/clients'))} />
          {mayDo(tenant.role, 'admin') && <Button onClick={() => setNew(true)}>{t.newClient}</Button>}
        </>
      }
    >
      <WithPanel panel={isNew && <NewClient onClose={() => setNew(false)} />}>
        <DataTable
          label={t.clients}
          pages={pages}
          rowKey={({ name }) => name}
          onOpen={({ name }) => go(`/settings/clients/${segment(name)}`)}
          empty={<Empty sentence={t.noClients} call={call} manifest={manifest(tenant.code)} />}
          columns={[
            { id: 'id', header: t.clientId, cell: ({ name }) => <span className="mono">{name}</span> },
            { id: 'name', header: t.displayName, cell: ({ of }) => of?.displayName ?? '' },
            { id: 'kind', header: t.kind, cell: ({ of }) => of && t.kindNames[kindOf(of)] },
            {
              id: 'state',
              header: t.status,
              cell: ({ of }) =>
                of && <State tone={of.enabled ? 'ok' : 'warn'}>{of.enabled ? t.enabled : t.disabled}</State>,
            },
          ]}
        />
      </WithPanel>
    </SettingsPage>
  );
}

function NewClient({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [kind, setKind] = useState<Kind>('backend');
  const [id, setId] = useState('');
  const [displayName, setDisplayName] = useState('');
  const [uris, setUris] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [error, setError] = useState<unknown>();
  const [taken, setTaken] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const offered = scopesOf[kind];
  const redirectUris = uris
    .split('\n')
    .map((one) => one.trim())
    .filter(Boolean);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const name = displayName.trim() === '' ? {} : { displayName: displayName.trim() };
    const granted = scopes.filter((one) => offered.includes(one));
    const chosen = {
      ...(granted.length === 0 ? {} : { scopes: granted }),
      ...(kind === 'backend' ? {} : { redirectUris }),
    };
    try {
      await api.put(`/clients/${segment(id.trim())}`, {
        ifNoneMatch: '*',
        body: { ...kinds[kind], ...name, ...chosen },
      });
      await queryClient.invalidateQueries({ queryKey: ['clients', tenant.code] });
      toast({ text: t.created(id.trim()) });
      go(`/settings/clients/${segment(id.trim())}`);
    } catch (caught) {
      if (isTaken(caught)) setTaken(id.trim());
      else setError(caught);
      setBusy(false);
    }
  };
  return (
    <SidePanel label={t.newClient} title={t.newClient} onClose={onClose}>
      <form className="form" onSubmit={create}>
        <fieldset>
          <legend>{t.kind}</legend>
          {(Object.keys(kinds) as Kind[]).map((one) => (
            <label key={one}>
              <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} /> {t.kinds[one]}
            </label>
          ))}
        </fieldset>
        <TextInput
          label={t.clientId}
          required
          value={id}
          error={taken !== undefined && taken === id.trim() ? t.isTaken(taken) : undefined}
          onChange={(event) => setId(event.currentTarget.value)}
        />
        <TextInput
          label={t.displayName}
          value={displayName}
          onChange={(event) => setDisplayName(event.currentTarget.value)}
        />
        {kind !== 'backend' && (
          <Textarea
            label={t.redirectUris}
            required
            autosize={false}
            rows={3}
            value={uris}
            onChange={(event) => setUris(event.currentTarget.value)}
          />
        )}
        <fieldset>
          <legend>{t.scopes}</legend>
          {offered.map((one) => (
            <label key={one} className="mono">
              <input
                type="checkbox"
                checked={scopes.includes(one)}
                onChange={({ currentTarget: { checked } }) =>
                  setScopes(checked ? [...scopes, one] : scopes.filter((other) => other !== one))
                }
              />{' '}
              {one} <span className="dim">{t.scopeMeans[one]}</span>
            </label>
          ))}
        </fieldset>
        {error !== undefined && <ProblemAlert error={error} />}
        <Button type="submit" loading={isBusy}>
          {t.create}
        </Button>
      </form>
    </SidePanel>
  );
}
