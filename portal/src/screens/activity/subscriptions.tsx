/** Endpoints that events are sent to. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { useOnce } from '../../core/once.ts';
import { queryClient, usePages, withObjects } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import {
  CodeBlock,
  curl,
  DataTable,
  Empty,
  Link,
  Notice,
  ProblemAlert,
  ShowAs,
  SidePanel,
  State,
  WithPanel,
} from '../../ui/index.ts';
import { type DeliveryState, eventTypesText, formats, listOf, stateTones } from './states.ts';
import { ActivityPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Listed = { endpoint: string; eventTypes: string[]; delivery: { state: DeliveryState } };
const manifest = (tenant: string) => `apiVersion: accord.dev/v1alpha1
kind: EventSubscription
metadata: {name: hooks}
spec:
  tenantRef: {name: ${tenant}}
  endpoint: https://hooks.example.com/accord
  eventTypes: ['*']`;

export default function Subscriptions() {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [isNew, setNew] = useState(false);
  const pages = usePages(['subscriptions', tenant.code], async (cursor, signal) => {
    const query = { limit: 25, cursor };
    const { data } = await api.get<{ resources: string[]; cursor?: string }>('/event-stream/subscriptions', {
      query,
      signal,
    });
    const rows = await withObjects(data.resources, tenant, (id) =>
      api.get<Listed>(`/event-stream/subscriptions/${segment(id)}`, { signal }),
    );
    return { rows, after: data.cursor };
  });
  const body = { endpoint: 'https://hooks.example.com/accord', eventTypes: ['*'] };
  return (
    <ActivityPage
      place="subscriptions"
      about={t.subscriptionsAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/event-stream/subscriptions'))} />
          {mayDo(tenant.role, 'admin') && <Button onClick={() => setNew(true)}>{t.newSubscription}</Button>}
        </>
      }
    >
      <WithPanel panel={isNew && <NewSubscription onClose={() => setNew(false)} />}>
        <DataTable
          label={t.subscriptions}
          pages={pages}
          rowKey={({ name }) => name}
          onOpen={({ name }) => go(`/activity/subscriptions/${segment(name)}`)}
          empty={
            <Empty
              sentence={t.noSubscriptions}
              call={curl(api.path('/event-stream/subscriptions'), { method: 'POST', body })}
              manifest={manifest(tenant.code)}
            />
          }
          columns={[
            {
              id: 'endpoint',
              header: t.endpoint,
              cell: ({ name, of }) => <span className="mono">{of?.endpoint ?? name}</span>,
            },
            { id: 'types', header: t.typesOf, cell: ({ of }) => of && eventTypesText(of.eventTypes, t) },
            {
              id: 'state',
              header: t.state,
              cell: ({ of }) => of && <State tone={stateTones[of.delivery.state]}>{t.states[of.delivery.state]}</State>,
            },
          ]}
        />
      </WithPanel>
    </ActivityPage>
  );
}

function NewSubscription({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [endpoint, setEndpoint] = useState('');
  const [types, setTypes] = useState('*');
  const [format, setFormat] = useState('cloudevents');
  const once = useOnce();
  const [made, setMade] = useState<{ id: string; signingSecret: string }>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const path = '/event-stream/subscriptions';
    try {
      const body = { endpoint: endpoint.trim(), eventTypes: listOf(types), format };
      const { data } = await once(body, (idempotencyKey) =>
        api.post<{ id: string; signingSecret: string }>(path, { body, idempotencyKey }),
      );
      setMade(data);
      await queryClient.invalidateQueries({ queryKey: ['subscriptions', tenant.code] });
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <SidePanel label={t.newSubscription} title={t.newSubscription} onClose={onClose} onEscape={made ? 'stays' : 'asks'}>
      {made ? (
        <Notice tone="warn">
          <p role="status">{t.secretOnce}</p>
          <CodeBlock code={made.signingSecret} />
          <Link to={`/activity/subscriptions/${segment(made.id)}`}>{endpoint}</Link>
        </Notice>
      ) : (
        <form className="form" onSubmit={create}>
          <TextInput
            label={t.endpoint}
            description={t.endpointRule}
            type="url"
            required
            value={endpoint}
            onChange={(event) => setEndpoint(event.currentTarget.value)}
          />
          <TextInput
            label={t.eventTypes}
            required
            value={types}
            onChange={(event) => setTypes(event.currentTarget.value)}
          />
          <NativeSelect
            label={t.format}
            data={formats}
            value={format}
            onChange={(event) => setFormat(event.currentTarget.value)}
          />
          {error !== undefined && <ProblemAlert error={error} />}
          <Button type="submit" loading={isBusy}>
            {t.create}
          </Button>
        </form>
      )}
    </SidePanel>
  );
}
