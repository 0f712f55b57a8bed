/** One subscription: how its endpoint does, what was sent, sending again. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useGo, useRouteParams } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { useOnce } from '../../core/once.ts';
import { queryClient } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Owned, storedYaml } from '../../manifests/index.ts';
import {
  CodeBlock,
  Confirm,
  curl,
  Facts,
  Notice,
  ProblemAlert,
  RelativeTime,
  ShowAs,
  SidePanel,
  State,
  toast,
  WithPanel,
} from '../../ui/index.ts';
import { Deliveries } from './deliveries.tsx';
import { EditSubscription } from './edit-subscription.tsx';
import { Replay } from './replay.tsx';
import { Replays } from './replays.tsx';
import { eventTypesText, stateTones } from './states.ts';
import { type Subscription, specOf } from './subscription-form.ts';
import { ActivityPage } from './tabs.tsx';
import { texts } from './texts.ts';

const ofSubscription = (name: string) => ({ kind: 'EventSubscription', name });
type Tested = { ok: boolean; status?: number; durationMs: number; error?: string };

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

type Panel = { kind: 'edit' } | { kind: 'secret'; signingSecret: string };
type ShownProps = { subscription: Subscription; path: string; etag: string | undefined };

function Shown({ subscription, path, etag }: ShownProps) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const { id, endpoint, eventTypes, format, delivery, managedBy, warnings = [] } = subscription;
  const { state } = delivery;
  const [panel, setPanel] = useState<Panel>();
  const close = () => setPanel(undefined);
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
  const shown =
    panel?.kind === 'secret' ? (
      <NewSecret signingSecret={panel.signingSecret} onClose={close} />
    ) : (
      panel && <EditSubscription subscription={subscription} path={path} etag={etag} onClose={close} />
    );
  return (
    <WithPanel panel={shown}>
      <Owned of={ofSubscription(id)} owner={managedBy} may="admin" />
      <Facts facts={facts} isCard />
      {warnings.map(({ pointer, detail }) => (
        <Notice key={pointer}>
          <span className="mono">{pointer}</span> {detail}
        </Notice>
      ))}
      {mayDo(tenant.role, 'admin') && (
        <Acts
          subscription={subscription}
          path={path}
          etag={etag}
          onPanel={setPanel}
          isSecretShown={panel?.kind === 'secret'}
        />
      )}
      {mayDo(tenant.role, 'records') && <Replays path={path} mayCancel={mayDo(tenant.role, 'admin')} />}
      {mayDo(tenant.role, 'records') && <Deliveries path={path} mayRetry={mayDo(tenant.role, 'admin')} />}
    </WithPanel>
  );
}

function NewSecret({ signingSecret, onClose }: { signingSecret: string; onClose: () => void }) {
  const t = useTexts(texts);
  return (
    <SidePanel label={t.rotated} title={t.rotated} onClose={onClose} onEscape="stays">
      <Notice tone="warn">
        <p role="status">{t.secretOnce}</p>
        <CodeBlock code={signingSecret} />
      </Notice>
    </SidePanel>
  );
}

/** `isSecretShown`: nothing takes the place of what is shown once. */
type ActsProps = ShownProps & { onPanel: (panel: Panel) => void; isSecretShown: boolean };

function Acts({ subscription, path, etag, onPanel, isSecretShown }: ActsProps) {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [isDeleting, setDeleting] = useState(false);
  const [isRotating, setRotating] = useState(false);
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
    await api.put(path, { ...ifMatch, body: { ...specOf(subscription), enabled } });
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
          <Button variant="default" disabled={isSecretShown} onClick={() => onPanel({ kind: 'edit' })}>
            {t.editSubscription}
          </Button>
        )}
        {isOwn && (
          <Button variant="default" disabled={isSecretShown} onClick={() => setRotating(true)}>
            {t.rotateSecret}
          </Button>
        )}
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
      {isRotating && (
        <Rotate
          of={subscription}
          path={path}
          onClose={() => setRotating(false)}
          onRotated={(signingSecret) => onPanel({ kind: 'secret', signingSecret })}
        />
      )}
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

type RotateProps = { of: Subscription; path: string; onClose: () => void; onRotated: (signingSecret: string) => void };

function Rotate({ of, path, onClose, onRotated }: RotateProps) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const once = useOnce();
  return (
    <Confirm
      title={t.rotateTitle(of.endpoint)}
      consequences={t.rotateWhat}
      action={t.rotateSecret}
      onClose={onClose}
      onConfirm={async () => {
        const { data } = await once({}, (idempotencyKey) =>
          api.post<{ signingSecret: string }>(`${path}/secret/rotate`, { body: {}, idempotencyKey }),
        );
        onRotated(data.signingSecret);
        await queryClient.invalidateQueries({ queryKey: ['subscriptions', tenant.code] });
      }}
    />
  );
}
