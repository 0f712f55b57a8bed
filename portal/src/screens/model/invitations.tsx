/** Invitations: who invited whom to what, and what became of it. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { reloadModel, useModel } from '../../model/load.ts';
import { type Entity, text } from '../../model/shapes.ts';
import {
  ChoiceFilter,
  Confirm,
  CopyId,
  curl,
  DataTable,
  Empty,
  Filters,
  ProblemAlert,
  RelativeTime,
  ShowAs,
  SidePanel,
  State,
  TextFilter,
  toast,
  WithPanel,
} from '../../ui/index.ts';
import { Invite } from './invite.tsx';
import { ModelPage } from './page.tsx';
import { texts } from './texts.ts';

const statuses = ['pending', 'accepted', 'declined', 'revoked', 'expired'] as const;
type Status = (typeof statuses)[number];
type Delivery = {
  kind: 'mail' | 'event' | 'response';
  status: 'recorded' | 'sent' | 'failed' | 'delivered';
  /** Why a mail failed. */
  reason?: string;
  recordedAt: string;
};
const deliveryTones = { recorded: 'none', sent: 'ok', failed: 'bad', delivered: 'ok' } as const;
type Listed = {
  invitationId: string;
  status: Status;
  relationshipType: string;
  to: Entity;
  invitor: Entity;
  invitee: { contact: { type: string; masked: string } };
  binding: 'none' | 'contact';
  createdAt: string;
  expiresAt: string;
  maxUses: number;
  uses: number;
  note?: string;
  deliveries?: Delivery[];
};
const example = {
  relationshipType: 'drives',
  to: { type: 'car', id: '7' },
  invitor: { type: 'user', id: 'alice' },
  invitee: { contact: { type: 'email', value: 'bob@example.com' } },
  reason: 'Alice asked for it by telephone.',
};
const tones = { pending: 'accent', accepted: 'ok', declined: 'none', revoked: 'bad', expired: 'warn' } as const;

export default function Invitations() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [filters, set] = useFilters(['status', 'toType', 'toId']);
  const [{ open }, setOpen] = useFilters(['open']);
  const [isInviting, setInviting] = useState(false);
  const types = useModel().data?.types.map(({ spec }) => spec.name) ?? [];
  const pages = usePages(
    ['model', tenant.code, 'invitations', filters],
    async (cursor, signal) => {
      const { data } = await api.get<{ invitations: Listed[]; cursor?: string }>('/sharing/invitations', {
        query: { ...filters, cursor, limit: 50 },
        signal,
      });
      return { rows: data.invitations, after: data.cursor };
    },
    { enabled: mayDo(tenant.role, 'records') },
  );
  return (
    <ModelPage
      place="invitations"
      about={t.invitationsAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/sharing/invitations', filters))} />
          {mayDo(tenant.role, 'admin') && <Button onClick={() => setInviting(true)}>{t.invite}</Button>}
        </>
      }
    >
      <Filters onClear={() => set({ status: undefined, toType: undefined, toId: undefined })}>
        <ChoiceFilter
          label={t.status}
          value={filters.status}
          options={statuses.map((value) => ({ value, label: t.statuses[value] }))}
          onChange={(status) => set({ status })}
        />
        <ChoiceFilter
          label={t.to}
          value={filters.toType}
          options={types.map((value) => ({ value, label: value }))}
          onChange={(toType) => set({ toType, toId: undefined })}
        />
        {filters.toType !== undefined && tenant.role !== 'support' && (
          <TextFilter label={t.id} value={filters.toId} onChange={(toId) => set({ toId })} />
        )}
      </Filters>
      <WithPanel
        panel={
          isInviting ? (
            <Invite
              onClose={() => setInviting(false)}
              onMade={(made) => {
                setInviting(false);
                setOpen({ open: made });
              }}
            />
          ) : (
            open && <One key={open} id={open} onClose={() => setOpen({ open: undefined })} />
          )
        }
      >
        <DataTable
          label={t.invitations}
          pages={pages}
          rowKey={({ invitationId }) => invitationId}
          selected={open}
          onOpen={({ invitationId }) => {
            setInviting(false);
            setOpen({ open: invitationId });
          }}
          empty={
            <Empty
              sentence={Object.keys(filters).length > 0 ? t.noSuchInvitations : t.noInvitations}
              call={curl(api.path('/sharing/invitations'), { method: 'POST', body: example })}
            />
          }
          columns={[
            {
              id: 'status',
              header: t.status,
              cell: ({ status }) => <State tone={tones[status]}>{t.statuses[status]}</State>,
            },
            { id: 'invitor', header: t.invitor, cell: ({ invitor }) => <span className="mono">{text(invitor)}</span> },
            { id: 'invitee', header: t.invitee, cell: ({ invitee }) => invitee.contact.masked },
            {
              id: 'to',
              header: t.sharedThing,
              cell: ({ relationshipType, to }) => (
                <>
                  {relationshipType} <span className="mono">{text(to)}</span>
                </>
              ),
            },
            { id: 'created', header: t.created, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
            { id: 'expires', header: t.expires, cell: ({ expiresAt }) => <RelativeTime at={expiresAt} /> },
          ]}
        />
      </WithPanel>
    </ModelPage>
  );
}

function One({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const path = `/sharing/invitations/${segment(id)}`;
  const found = useQuery({
    queryKey: ['model', tenant.code, 'invitation', id],
    queryFn: async ({ signal }) => (await api.get<Listed>(path, { signal })).data,
  });
  const one = found.data;
  return (
    <SidePanel title={t.invitation} label={t.invitation} onClose={onClose}>
      {found.error && <ProblemAlert error={found.error} onRetry={() => found.refetch()} />}
      {one && (
        <div className="stack">
          <p>{t.invitationSays(text(one.invitor), one.invitee.contact.masked, one.relationshipType, text(one.to))}</p>
          <dl className="model-facts">
            <dt>{t.id}</dt>
            <dd>
              <CopyId id={id} max={40} />
            </dd>
            <dt>{t.status}</dt>
            <dd>
              <State tone={tones[one.status]}>{t.statuses[one.status]}</State>
            </dd>
            <dt>{t.binding}</dt>
            <dd>{t.bindings[one.binding]}</dd>
            <dt>{t.uses}</dt>
            <dd>{t.usesOf(one.uses, one.maxUses)}</dd>
            <dt>{t.expires}</dt>
            <dd>
              <RelativeTime at={one.expiresAt} />
            </dd>
          </dl>
          <h3>{t.deliveries}</h3>
          <ul>
            {one.deliveries?.map(({ kind, status, reason, recordedAt }) => (
              <li key={`${kind} ${recordedAt}`}>
                {t.deliveryKinds[kind]}:{' '}
                <State tone={deliveryTones[status]}>
                  {kind === 'event' && status === 'recorded' ? t.eventRecorded : t.deliveryStatuses[status]}
                </State>
                , <RelativeTime at={recordedAt} />
                {reason !== undefined && <p className="dim">{t.deliveryReasons[reason] ?? reason}</p>}
              </li>
            ))}
          </ul>
          {one.status === 'pending' && mayDo(tenant.role, 'admin') && <Actions one={one} path={path} />}
        </div>
      )}
    </SidePanel>
  );
}

function Actions({ one, path }: { one: Listed; path: string }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [isRevoking, setRevoking] = useState(false);
  const [error, setError] = useState<unknown>();
  const contact = one.invitee.contact.masked;
  const resend = async () => {
    setError(undefined);
    try {
      await api.post(`${path}/resend`);
      toast({ text: t.resent(contact) });
      await reloadModel(tenant.code);
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      {error !== undefined && <ProblemAlert error={error} />}
      <p className="row">
        <button type="button" className="plain chip" onClick={resend}>
          {t.resend}
        </button>
        <button type="button" className="plain chip" onClick={() => setRevoking(true)}>
          {t.revoke}
        </button>
      </p>
      {isRevoking && (
        <Confirm
          title={t.revokeTitle(contact, text(one.to))}
          consequences={t.revokeWhat(one.uses)}
          action={t.revoke}
          onClose={() => setRevoking(false)}
          onConfirm={async () => {
            await api.delete(path);
            await reloadModel(tenant.code);
            toast({ text: t.revoked(contact) });
          }}
        />
      )}
    </>
  );
}
