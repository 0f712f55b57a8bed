/** One client: what it may, its secrets, switching it off. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useGo, useRouteParams } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { useOnce } from '../../core/once.ts';
import { base } from '../../core/page.ts';
import { queryClient } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Owned, storedYaml } from '../../manifests/index.ts';
import {
  Confirm,
  CopyId,
  curl,
  Facts,
  Notice,
  ProblemAlert,
  RelativeTime,
  ShowAs,
  State,
  toast,
} from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { SettingsPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Secret = { id: string; createdAt: string };
type Client = {
  clientId: string;
  enabled: boolean;
  displayName?: string;
  grantTypes: string[];
  redirectUris?: string[];
  scopes?: string[];
  audiences?: string[];
  tokenEndpointAuthMethod: string;
  firstParty: boolean;
  secrets: Secret[];
  updatedAt: string;
  managedBy: string;
};
const ofClient = (name: string) => ({ kind: 'OAuthClient', name });
type Asking = { kind: 'disable' } | { kind: 'delete' } | { kind: 'secret'; id: string };

/** What a PUT sends again: all but what the server adds. */
function bodyOf(client: Client): Record<string, unknown> {
  const added = ['clientId', 'secrets', 'revision', 'updatedAt', 'updatedBy', 'managedBy'];
  return Object.fromEntries(Object.entries(client).filter(([name]) => !added.includes(name)));
}

export default function ClientPage() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const id = useRouteParams().id ?? '';
  const path = `/clients/${segment(id)}`;
  const found = useQuery({
    queryKey: ['clients', tenant.code, id],
    queryFn: ({ signal }) => api.get<Client>(path, { signal }),
  });
  const client = found.data?.data;
  return (
    <SettingsPage
      place="clients"
      title={client?.displayName ?? id}
      back={{ to: '/settings/clients', label: t.clients }}
      about={t.clientsAbout}
      actions={<ShowAs curl={curl(api.path(path))} manifest={storedYaml(api, ofClient(id))} />}
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {client && <Shown client={client} etag={found.data?.etag} />}
    </SettingsPage>
  );
}

function Shown({ client, etag }: { client: Client; etag: string | undefined }) {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [asking, setAsking] = useState<Asking>();
  const [error, setError] = useState<unknown>();
  const [isEnabling, setEnabling] = useState(false);
  const id = client.clientId;
  const path = `/clients/${segment(id)}`;
  const isManaged = client.managedBy !== 'api';
  const mayChange = mayDo(tenant.role, 'admin') && !isManaged;
  const reload = () => queryClient.invalidateQueries({ queryKey: ['clients', tenant.code] });
  const setEnabled = async (enabled: boolean) => {
    await api.put(path, { ...(etag === undefined ? {} : { ifMatch: etag }), body: { ...bodyOf(client), enabled } });
    await reload();
    toast({ text: enabled ? t.isEnabled(id) : t.isDisabled(id) });
  };
  const enable = async () => {
    setError(undefined);
    setEnabling(true);
    await setEnabled(true).catch(setError);
    setEnabling(false);
  };
  const facts: [string, React.ReactNode][] = [
    [t.clientId, <CopyId key="id" id={id} max={60} />],
    [
      t.status,
      <State key="state" tone={client.enabled ? 'ok' : 'warn'}>
        {client.enabled ? t.enabled : t.disabled}
      </State>,
    ],
    [t.grants, client.grantTypes.join(', ')],
    [t.method, client.tokenEndpointAuthMethod],
    [t.scopes, client.scopes?.join(' ') ?? ''],
    [t.audiences, client.audiences?.join(', ') ?? ''],
    [t.redirectUris, client.redirectUris?.join(', ') ?? ''],
    [t.firstParty, client.firstParty ? t.yes : t.no],
    [t.changed, <RelativeTime key="at" at={client.updatedAt} />],
  ];
  const confirms = {
    disable: { title: t.disableTitle(id), consequences: t.disableWhat, action: t.disable, do: () => setEnabled(false) },
    delete: {
      ...{ title: t.deleteClientTitle(id), consequences: t.deleteClientWhat, action: t.deleteClient },
      do: async () => {
        await api.delete(path, etag === undefined ? {} : { ifMatch: etag });
        toast({ text: t.deleted(id) });
        go('/settings/clients', { replace: true });
        // The list alone: this page would ask for what is gone.
        await queryClient.invalidateQueries({ queryKey: ['clients', tenant.code], exact: true });
      },
    },
    secret: {
      ...{ title: t.deleteSecretTitle, consequences: t.deleteSecretWhat, action: t.deleteSecret },
      do: async () => {
        if (asking?.kind === 'secret') await api.delete(`${path}/secrets/${segment(asking.id)}`);
        await reload();
      },
    },
  };
  const confirm = asking && confirms[asking.kind];
  return (
    <>
      <Owned of={ofClient(id)} owner={client.managedBy} may="admin" />
      <Facts facts={facts} isCard />
      {client.tokenEndpointAuthMethod.startsWith('client_secret') && (
        <Secrets
          client={client}
          mayChange={mayDo(tenant.role, 'admin')}
          onDelete={(secret) => setAsking({ kind: 'secret', id: secret })}
        />
      )}
      {error !== undefined && <ProblemAlert error={error} />}
      {mayChange && (
        <div className="chips">
          {client.enabled ? (
            <Button variant="default" onClick={() => setAsking({ kind: 'disable' })}>
              {t.disable}
            </Button>
          ) : (
            <Button variant="default" loading={isEnabling} onClick={enable}>
              {t.enable}
            </Button>
          )}
          <Button variant="default" onClick={() => setAsking({ kind: 'delete' })}>
            {t.deleteClient}
          </Button>
        </div>
      )}
      {confirm && (
        <Confirm
          title={confirm.title}
          consequences={confirm.consequences}
          action={confirm.action}
          onClose={() => setAsking(undefined)}
          onConfirm={confirm.do}
        />
      )}
    </>
  );
}

/** What gets a token of the tenant's own issuer. */
function tokenCall(tenant: string, { clientId, scopes = [] }: Client): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    `curl -u ${quoted(`${encodeURIComponent(clientId)}:`)}"$CLIENT_SECRET" \\`,
    `  -d grant_type=client_credentials${scopes.length === 0 ? '' : ` -d ${quoted(`scope=${scopes.join(' ')}`)}`} \\`,
    `  ${quoted(`${location.origin}${base}/${segment(tenant)}/oauth/token`)}`,
  ].join('\n');
}

function Secrets({
  client,
  mayChange,
  onDelete,
}: {
  client: Client;
  mayChange: boolean;
  onDelete: (id: string) => void;
}) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [made, setMade] = useState<string>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const once = useOnce();
  const generate = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const path = `/clients/${segment(client.clientId)}/secrets`;
      const { data } = await once({}, (idempotencyKey) =>
        api.post<{ clientSecret: string }>(path, { body: {}, idempotencyKey }),
      );
      setMade(data.clientSecret);
      await queryClient.invalidateQueries({ queryKey: ['clients', tenant.code] });
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <section className="card stack" aria-label={t.secrets}>
      <h2>{t.secrets}</h2>
      <p className="dim">{t.secretsAbout}</p>
      {client.secrets.length === 0 && made === undefined && <Notice tone="warn">{t.noSecrets}</Notice>}
      {client.secrets.map(({ id, createdAt }) => (
        <div key={id} className="chips">
          <span className="mono">{id}</span>
          <RelativeTime at={createdAt} />
          {mayChange && (
            <button type="button" className="plain chip" onClick={() => onDelete(id)}>
              {t.deleteSecret}
            </button>
          )}
        </div>
      ))}
      {made !== undefined && (
        <Notice tone="warn">
          <p role="status">{t.secretOnce}</p>
          <CodeBlock code={made} />
        </Notice>
      )}
      {client.grantTypes.includes('client_credentials') && (
        <details open={made !== undefined}>
          <summary>{t.getToken}</summary>
          <CodeBlock code={tokenCall(tenant.code, client)} />
        </details>
      )}
      {error !== undefined && <ProblemAlert error={error} />}
      {mayChange && (
        <div>
          <Button variant={client.secrets.length === 0 ? 'filled' : 'default'} loading={isBusy} onClick={generate}>
            {t.newSecret}
          </Button>
        </div>
      )}
    </section>
  );
}
