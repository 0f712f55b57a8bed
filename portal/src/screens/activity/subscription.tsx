/** One subscription: how its endpoint does, what was sent, sending again. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useGo, useRouteParams } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { queryClient } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Owned, storedYaml } from '../../manifests/index.ts';
import { Confirm, curl, Facts, Notice, ProblemAlert, RelativeTime, ShowAs, State, toast } from '../../ui/index.ts';
import { Deliveries } from './deliveries.tsx';
import { Replay } from './replay.tsx';
import { Replays } from './replays.tsx';
import { type DeliveryState, eventTypesText, stateTones } from './states.ts';
import { ActivityPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Subscription = {
  id: string;
  endpoint: string;
  eventTypes: string[];
  format: string;
  enabled: boolean;
  warnings?: { pointer: string; detail: string }[];
  delivery: {
    state: DeliveryState;
    waiting: number;
    failingSince?: string;
    disabledReason?: string;
  };
  managedBy: string;
};
const ofSubscription = (name: string) => ({ kind: 'EventSubscription', name });
type Tested = { ok: boolean; status?: number; durationMs: number; error?: string };

const added = [
  ...['id', 'signingSecrets', 'delivery', 'warnings', 'revision', 'createdAt', 'updatedAt', 'updatedBy', 'managedBy'],
];

export default function SubscriptionPage() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const id = useRouteParams().id ?? '';
  const path = `/event-stream/subscriptions/${segment(id)}`;
  const found = useQuery({
    queryKey: ['subscriptions', tenant.code, id],
    queryFn: ({ signal }) => api.get<Subscription>(path, { signal }),
    // Until what waits is sent. Each request of support is audited.
    refetchInterval: ({ state: { data } }) =>
      tenant.role !== 'support' && (data?.data.delivery.waiting ?? 0) > 0 ? 10_000 : false,
  });
  const subscription = found.data?.data;
  return (
    <ActivityPage
      place="subscriptions"
      title={subscription?.endpoint ?? id}
      back={{ to: '/activity/subscriptions', label: t.subscriptions }}
      about={t.subscriptionsAbout}
      actions={<ShowAs curl={curl(api.path(path))} manifest={storedYaml(api, ofSubscription(id))} />}
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {subscription && <Shown subscription={subscription} path={path} etag={found.data?.etag} />}
    </ActivityPage>
  );
}

type ShownProps = { subscription: Subscription; path: string; etag: string | undefined };

function Shown({ subscription, path, etag }: ShownProps) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const { id, endpoint, eventTypes, format, delivery, managedBy, warnings = [] } = subscription;
  const { state } = delivery;
  const facts: [string, ReactNode][] = [
    [
      t.endpoint,
      <span key="endpoint" className="mono">
        {endpoint}
      </span>,
    ],
    [t.typesOf, eventTypesText(eventTypes, t)],
    [t.format, format],
    [
      t.state,
      <State key="state" tone={stateTones[state]}>
        {t.states[state]}
      </State>,
    ],
    [t.waiting, String(delivery.waiting)],
    [t.failingSince, delivery.failingSince && <RelativeTime key="since" at={delivery.failingSince} />],
    [t.reason, delivery.disabledReason],
  ];
  return (
    <>
      <Owned of={ofSubscription(id)} owner={managedBy} may="admin" />
      <Facts facts={facts} isCard />
      {warnings.map(({ pointer, detail }) => (
        <Notice key={pointer}>
          <span className="mono">{pointer}</span> {detail}
        </Notice>
      ))}
      {mayDo(tenant.role, 'admin') && <Acts subscription={subscription} path={path} etag={etag} />}
      {mayDo(tenant.role, 'records') && <Replays path={path} mayCancel={mayDo(tenant.role, 'admin')} />}
      {mayDo(tenant.role, 'records') && <Deliveries path={path} mayRetry={mayDo(tenant.role, 'admin')} />}
    </>
  );
}

function Acts({ subscription, path, etag }: ShownProps) {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [isDeleting, setDeleting] = useState(false);
  const [isReplaying, setReplaying] = useState(false);
  const [error, setError] = useState<unknown>();
  const [tested, setTested] = useState<Tested>();
  const isOwn = subscription.managedBy === 'api';
  const ifMatch = etag === undefined ? {} : { ifMatch: etag };
  const reload = () => queryClient.invalidateQueries({ queryKey: ['subscriptions', tenant.code] });
  const attempt = (work: () => Promise<unknown>) => {
    setError(undefined);
    work().catch(setError);
  };
  const setEnabled = async (enabled: boolean) => {
    const body = Object.fromEntries(Object.entries(subscription).filter(([name]) => !added.includes(name)));
    await api.put(path, { ...ifMatch, body: { ...body, enabled } });
    await reload();
    toast({ text: enabled ? t.resumed : t.paused });
  };
  const test = async () => {
    setTested(undefined);
    setTested((await api.post<Tested>(`${path}/test`, { body: {} })).data);
  };
  return (
    <section className="stack" aria-label={t.state}>
      <div className="chips">
        <Button variant="default" onClick={() => attempt(test)}>
          {t.test}
        </Button>
        <Button variant="default" aria-expanded={isReplaying} onClick={() => setReplaying(!isReplaying)}>
          {t.replay}
        </Button>
        {isOwn && (
          <Button variant="default" onClick={() => attempt(() => setEnabled(!subscription.enabled))}>
            {subscription.enabled ? t.pause : t.resume}
          </Button>
        )}
        {isOwn && (
          <Button variant="default" onClick={() => setDeleting(true)}>
            {t.deleteSubscription}
          </Button>
        )}
      </div>
      {tested && (
        <p role="status">
          {tested.ok
            ? t.testOk(tested.status ?? 200, tested.durationMs)
            : t.testFailed(tested.error ?? String(tested.status ?? ''))}
        </p>
      )}
      {error !== undefined && <ProblemAlert error={error} />}
      {isReplaying && <Replay path={path} />}
      {isDeleting && (
        <Confirm
          title={t.deleteTitle(subscription.endpoint)}
          consequences={t.deleteWhat}
          action={t.deleteSubscription}
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await api.delete(path, ifMatch);
            toast({ text: t.deleted });
            go('/activity/subscriptions', { replace: true });
            // The list alone: this page would ask for what is gone.
            await queryClient.invalidateQueries({ queryKey: ['subscriptions', tenant.code], exact: true });
          }}
        />
      )}
    </section>
  );
}
