/** What was sent to an endpoint, with its answers. */
import { useState } from 'react';
import { useFilters } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { queryClient, usePages } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useRecord } from '../../core/session-end.ts';
import { useTexts } from '../../core/texts.ts';
import {
  ChoiceFilter,
  CodeBlock,
  DataTable,
  Filters,
  ProblemAlert,
  RelativeTime,
  SidePanel,
  State,
  toast,
  WithPanel,
} from '../../ui/index.ts';
import { texts } from './texts.ts';

type Status = 'delivered' | 'failed' | 'waiting' | 'suspended';
type Delivery = {
  id: string;
  status: Status;
  event?: { type: string; time: string; subject?: string };
  request?: string;
  nextAttemptAt?: string;
  attempts: { number: number; at: string; durationMs: number; status?: number; error?: string; answer?: string }[];
};
const tones = { delivered: 'ok', failed: 'bad', waiting: 'none', suspended: 'warn' } as const;

export function Deliveries({ path, mayRetry }: { path: string; mayRetry: boolean }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [filters, set] = useFilters(['status']);
  const [opened, setOpened] = useRecord<Delivery>();
  const [error, setError] = useState<unknown>();
  const pages = usePages(['deliveries', tenant.code, path, filters], async (cursor, signal) => {
    const query = { ...filters, limit: 50, cursor };
    const { data } = await api.get<{ deliveries: Delivery[]; cursor?: string }>(`${path}/deliveries`, {
      query,
      signal,
    });
    return { rows: data.deliveries, after: data.cursor };
  });
  const retry = async (id: string) => {
    setError(undefined);
    try {
      await api.post(`${path}/deliveries/${segment(id)}/retry`, { body: {} });
      await queryClient.invalidateQueries({ queryKey: ['deliveries', tenant.code] });
      toast({ text: t.retried });
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      <h2>{t.deliveries}</h2>
      <Filters>
        <ChoiceFilter
          label={t.status}
          {...(filters.status === undefined ? {} : { value: filters.status })}
          options={Object.entries(t.statuses).map(([value, label]) => ({ value, label }))}
          onChange={(status) => set({ status })}
        />
      </Filters>
      {error !== undefined && <ProblemAlert error={error} />}
      <WithPanel panel={opened && <Details delivery={opened} onClose={() => setOpened(undefined)} />}>
        <DataTable
          label={t.deliveries}
          pages={pages}
          rowKey={({ id }) => id}
          onOpen={setOpened}
          {...(opened === undefined ? {} : { selected: opened.id })}
          empty={<p className="dim">{t.noDeliveries}</p>}
          columns={[
            {
              id: 'status',
              header: t.status,
              cell: ({ status }) => <State tone={tones[status]}>{t.statuses[status]}</State>,
            },
            { id: 'type', header: t.type, cell: ({ event }) => <span className="mono">{event?.type ?? ''}</span> },
            { id: 'time', header: t.when, cell: ({ event }) => event && <RelativeTime at={event.time} /> },
            { id: 'attempts', header: t.attempts, numeric: true, cell: ({ attempts }) => attempts.length },
            {
              id: 'next',
              header: t.nextAttempt,
              cell: ({ nextAttemptAt }) => nextAttemptAt !== undefined && <RelativeTime at={nextAttemptAt} />,
            },
            {
              id: 'retry',
              header: '',
              cell: ({ id, status }) =>
                mayRetry &&
                status !== 'suspended' && (
                  <button type="button" className="plain chip" onClick={() => void retry(id)}>
                    {status === 'waiting' ? t.sendNow : t.retry}
                  </button>
                ),
            },
          ]}
        />
      </WithPanel>
    </>
  );
}

function Details({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const t = useTexts(texts);
  return (
    <SidePanel label={t.deliveries} title={delivery.event?.type ?? delivery.id} onClose={onClose}>
      <div className="stack">
        {delivery.event?.subject !== undefined && <span className="mono">{delivery.event.subject}</span>}
        {delivery.request !== undefined && (
          <details>
            <summary>{t.request}</summary>
            <CodeBlock code={delivery.request} />
          </details>
        )}
        {delivery.attempts.map(({ number, at, durationMs, status, error, answer }) => (
          <section key={number} className="card" aria-label={t.attempt(number)}>
            <strong>{t.attempt(number)}</strong> <RelativeTime at={at} />, {durationMs} ms
            <p>{status ?? error}</p>
            {status !== undefined && error !== undefined && <p>{error}</p>}
            {answer !== undefined && <CodeBlock code={answer} />}
          </section>
        ))}
      </div>
    </SidePanel>
  );
}
