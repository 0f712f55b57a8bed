/** Identity providers whose tokens the tenant accepts. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { isTaken } from '../../core/problem.ts';
import { queryClient, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, DataTable, Empty, ProblemAlert, ShowAs, SidePanel, toast, WithPanel } from '../../ui/index.ts';
import { TokenCheck } from './check/token-check.tsx';
import { SettingsPage } from './tabs.tsx';
import { texts } from './texts.ts';

const clientKinds = ['none', 'auth0', 'keycloak', 'rfc9068'] as const;
const manifest = (tenant: string) => `apiVersion: accord.dev/v1alpha1
kind: TrustedIssuer
metadata: {name: example}
spec:
  tenantRef: {name: ${tenant}}
  issuer: https://id.example.com
  clients: none`;

export default function Issuers() {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [isNew, setNew] = useState(false);
  const pages = usePages(['issuers', tenant.code], async (cursor, signal) => {
    const { data } = await api.get<{ resources: string[]; cursor?: string }>('/trusted-issuers', {
      query: { limit: 100, cursor },
      signal,
    });
    return { rows: data.resources, after: data.cursor };
  });
  const call = curl(api.path('/trusted-issuers/example'), {
    method: 'PUT',
    body: { issuer: 'https://id.example.com', clients: 'none' },
  });
  return (
    <SettingsPage
      place="issuers"
      about={t.issuersAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/trusted-issuers'))} />
          {mayDo(tenant.role, 'admin') && <Button onClick={() => setNew(true)}>{t.newIssuer}</Button>}
        </>
      }
    >
      <WithPanel panel={isNew && <NewIssuer onClose={() => setNew(false)} />}>
        <DataTable
          label={t.issuers}
          pages={pages}
          rowKey={(name) => name}
          onOpen={(name) => go(`/settings/issuers/${segment(name)}`)}
          empty={<Empty sentence={t.noIssuers} call={call} manifest={manifest(tenant.code)} />}
          columns={[{ id: 'name', header: t.name, cell: (name) => name }]}
        />
      </WithPanel>
      {mayDo(tenant.role, 'edit') && <TokenCheck />}
    </SettingsPage>
  );
}

function NewIssuer({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [name, setName] = useState('');
  const [issuer, setIssuer] = useState('');
  const [prefix, setPrefix] = useState('');
  const [clients, setClients] = useState<string>('none');
  const [error, setError] = useState<unknown>();
  const [taken, setTaken] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const trust = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const body = { issuer: issuer.trim(), clients, ...(prefix.trim() === '' ? {} : { actorIdPrefix: prefix.trim() }) };
    try {
      await api.put(`/trusted-issuers/${segment(name.trim())}`, { ifNoneMatch: '*', body });
      await queryClient.invalidateQueries({ queryKey: ['issuers', tenant.code] });
      toast({ text: t.trusted(name.trim()) });
      onClose();
    } catch (caught) {
      if (isTaken(caught)) setTaken(name.trim());
      else setError(caught);
      setBusy(false);
    }
  };
  return (
    <SidePanel label={t.newIssuer} title={t.newIssuer} onClose={onClose}>
      <form className="form" onSubmit={trust}>
        <TextInput
          label={t.name}
          required
          value={name}
          error={taken !== undefined && taken === name.trim() ? t.isTaken(taken) : undefined}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={t.issuerUrl}
          type="url"
          required
          value={issuer}
          onChange={(event) => setIssuer(event.currentTarget.value)}
        />
        <TextInput
          label={t.actorIdPrefix}
          description={t.actorIdPrefixWhy}
          value={prefix}
          onChange={(event) => setPrefix(event.currentTarget.value)}
        />
        <NativeSelect
          label={t.issuerClients}
          data={[...clientKinds]}
          value={clients}
          onChange={(event) => setClients(event.currentTarget.value)}
        />
        {error !== undefined && <ProblemAlert error={error} />}
        <Button type="submit" loading={isBusy}>
          {t.trust}
        </Button>
      </form>
    </SidePanel>
  );
}
