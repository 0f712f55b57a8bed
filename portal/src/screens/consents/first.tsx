/** What the tenant's users are asked to agree to. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useFilters, useGo } from '../../core/address.ts';
import { isTaken } from '../../core/problem.ts';
import { queryClient, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, DataTable, Empty, ProblemAlert, ShowAs, SidePanel, toast, WithPanel } from '../../ui/index.ts';
import { AttributesInput, useAttributes } from './attributes.tsx';
import { pageOfDefinition, pathOfDefinition } from './shapes.ts';
import { ConsentsPage } from './tabs.tsx';
import { texts } from './texts.ts';

const manifest = (tenant: string) => `apiVersion: accord.dev/v1alpha1
kind: ConsentDefinition
metadata: {name: terms}
spec:
  tenantRef: {name: ${tenant}}
  name: terms
  versions:
    - version: "1"
      optInConfig: {type: direct}
      documents:
        - {version: "1", language: en}`;

export default function First() {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [filters, set] = useFilters(['new']);
  const mayEdit = mayDo(tenant.role, 'edit');
  const pages = usePages(['consents', tenant.code, 'definitions'], async (cursor, signal) => {
    const { data } = await api.get<{ resources: string[]; cursor?: string }>('/consent-definitions', {
      query: { limit: 100, cursor },
      signal,
    });
    return { rows: data.resources, after: data.cursor };
  });
  const begin = <Button onClick={() => set({ new: '1' })}>{t.newDefinition}</Button>;
  return (
    <ConsentsPage
      title={t.title}
      about={t.about}
      actions={
        <>
          <ShowAs curl={curl(api.path('/consent-definitions'))} />
          {mayEdit && begin}
        </>
      }
    >
      <WithPanel panel={mayEdit && filters.new && <NewDefinition onClose={() => set({ new: undefined })} />}>
        <DataTable
          label={t.definitions}
          pages={pages}
          rowKey={(name) => name}
          onOpen={(name) => go(pageOfDefinition(name))}
          empty={
            <Empty
              sentence={t.noDefinitions}
              call={curl(api.path('/consent-definitions/terms'), { method: 'PUT', body: {} })}
              manifest={manifest(tenant.code)}
            />
          }
          columns={[{ id: 'name', header: t.name, cell: (name) => <span className="mono">{name}</span> }]}
        />
      </WithPanel>
    </ConsentsPage>
  );
}

function NewDefinition({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [name, setName] = useState('');
  const [isLookup, setLookup] = useState(false);
  const attributes = useAttributes();
  const [error, setError] = useState<unknown>();
  const [isThere, setThere] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    const path = pathOfDefinition(name.trim());
    setBusy(true);
    setError(undefined);
    try {
      const body = { ...attributes.value, ...(isLookup ? { languageFallback: 'lookup' } : {}) };
      await api.put(path, { body, ifNoneMatch: '*' });
      await queryClient.invalidateQueries({ queryKey: ['consents', tenant.code] });
      toast({ text: t.made(name.trim()) });
      return go(pageOfDefinition(name.trim()));
    } catch (caught) {
      if (isTaken(caught)) setThere(true);
      else setError(caught);
    }
    setBusy(false);
  };
  return (
    <SidePanel label={t.newDefinition} title={t.newDefinition} onClose={onClose}>
      <form className="form" onSubmit={create}>
        <p className="dim">{t.definitionRule}</p>
        <TextInput
          label={t.name}
          description={t.nameRule}
          required
          maxLength={128}
          value={name}
          error={isThere ? t.taken(name.trim()) : undefined}
          onChange={(event) => {
            setName(event.currentTarget.value);
            setThere(false);
          }}
        />
        <label>
          <input type="checkbox" checked={isLookup} onChange={(event) => setLookup(event.currentTarget.checked)} />{' '}
          {t.fallback}
        </label>
        <AttributesInput attributes={attributes} />
        {error !== undefined && <ProblemAlert error={error} />}
        <Button type="submit" loading={isBusy} disabled={attributes.isWrong}>
          {t.create}
        </Button>
      </form>
    </SidePanel>
  );
}
