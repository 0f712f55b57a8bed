/** Who administers the tenant, and who is invited to. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useOnce } from '../../core/once.ts';
import { queryClient, usePages } from '../../core/query.ts';
import { type Role, useSession, useTenant } from '../../core/session.ts';
import { useLanguage, useTexts } from '../../core/texts.ts';
import {
  Confirm,
  curl,
  DataTable,
  Empty,
  ProblemAlert,
  RelativeTime,
  ShowAs,
  SidePanel,
  State,
  toast,
  WithPanel,
} from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { useUiTexts } from '../../ui/texts.ts';
import { SettingsPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Member = { id: string; email: string; role: Role; createdAt: string };
type Invitation = {
  id: string;
  email: string;
  role: Role;
  expiresAt: string;
  status: 'pending' | 'used' | 'expired' | 'withdrawn';
  createdBy: string;
};

const reload = (tenant: string) => queryClient.invalidateQueries({ queryKey: ['members', tenant] });

export default function Members() {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const { email: own } = useSession();
  const [isInviting, setInviting] = useState(false);
  const [removing, setRemoving] = useState<Member>();
  const pages = usePages(['members', tenant.code, 'list'], async (cursor, signal) => {
    const { data } = await api.get<{ members: Member[]; cursor?: string }>('/members', {
      query: { limit: 100, cursor },
      signal,
    });
    return { rows: data.members, after: data.cursor };
  });
  return (
    <SettingsPage
      place="members"
      about={t.membersAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/members'))} />
          <Button onClick={() => setInviting(true)}>{t.invite}</Button>
        </>
      }
    >
      <WithPanel panel={isInviting && <Invite onClose={() => setInviting(false)} />}>
        <DataTable
          label={t.members}
          pages={pages}
          rowKey={({ id }) => id}
          columns={[
            { id: 'email', header: t.email, cell: ({ email }) => (email === own ? `${email} (${t.you})` : email) },
            { id: 'role', header: t.role, cell: ({ role }) => ui.roles[role] },
            { id: 'since', header: t.since, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
            {
              id: 'remove',
              header: '',
              cell: (one) => (
                <button type="button" className="plain chip" onClick={() => setRemoving(one)}>
                  {t.remove}
                </button>
              ),
            },
          ]}
        />
        <Invitations />
      </WithPanel>
      {removing && (
        <Confirm
          title={t.removeTitle(removing.email)}
          consequences={t.removeWhat}
          action={t.remove}
          onClose={() => setRemoving(undefined)}
          onConfirm={async () => {
            await api.delete(`/members/${removing.id}`);
            await reload(tenant.code);
            toast({ text: t.removed(removing.email) });
          }}
        />
      )}
    </SettingsPage>
  );
}

function Invitations() {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const [withdrawing, setWithdrawing] = useState<Invitation>();
  const pages = usePages(['members', tenant.code, 'invitations'], async (cursor, signal) => {
    const { data } = await api.get<{ invitations: Invitation[]; cursor?: string }>('/members/invitations', {
      query: { limit: 50, cursor },
      signal,
    });
    return { rows: data.invitations, after: data.cursor };
  });
  return (
    <>
      <h2>{t.memberInvitations}</h2>
      <DataTable
        label={t.memberInvitations}
        pages={pages}
        rowKey={({ id }) => id}
        empty={
          <Empty
            sentence={t.noMemberInvitations}
            call={curl(api.path('/members/invitations'), {
              method: 'POST',
              body: { email: 'ben@example.com', role: 'config-editor' },
            })}
          />
        }
        columns={[
          { id: 'email', header: t.email, cell: ({ email }) => email },
          { id: 'role', header: t.role, cell: ({ role }) => ui.roles[role] },
          {
            id: 'status',
            header: t.status,
            cell: ({ status }) => <State tone={status === 'used' ? 'ok' : 'none'}>{t.invitationStates[status]}</State>,
          },
          { id: 'expires', header: t.expires, cell: ({ expiresAt }) => <RelativeTime at={expiresAt} /> },
          { id: 'by', header: t.by, cell: ({ createdBy }) => createdBy },
          {
            id: 'withdraw',
            header: '',
            cell: (one) =>
              one.status === 'pending' && (
                <button type="button" className="plain chip" onClick={() => setWithdrawing(one)}>
                  {t.withdraw}
                </button>
              ),
          },
        ]}
      />
      {withdrawing && (
        <Confirm
          title={t.withdrawTitle(withdrawing.email)}
          consequences={t.withdrawWhat}
          action={t.withdraw}
          onClose={() => setWithdrawing(undefined)}
          onConfirm={async () => {
            await api.delete(`/members/invitations/${withdrawing.id}`);
            await reload(tenant.code);
          }}
        />
      )}
    </>
  );
}

const roles: readonly Role[] = ['config-editor', 'config-viewer', 'support', 'security-admin'];

function Invite({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('config-editor');
  const { language } = useLanguage();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const once = useOnce();
  const [done, setDone] = useState<{ email: string; url: string }>();
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const body = { email: email.trim(), role, language };
      const { data } = await once(body, (idempotencyKey) =>
        api.post<{ email: string; url: string }>('/members/invitations', { body, idempotencyKey }),
      );
      setDone(data);
      await reload(tenant.code);
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <SidePanel label={t.invite} title={t.invite} onClose={onClose}>
      {done ? (
        <div className="stack">
          <p role="status">{t.invited(done.email)}</p>
          <p>{t.linkOnce}</p>
          <CodeBlock code={done.url} />
        </div>
      ) : (
        <form className="form" onSubmit={send}>
          <p className="dim">{t.inviteAbout}</p>
          <TextInput
            label={t.email}
            type="email"
            required
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <fieldset>
            <legend>{t.role}</legend>
            {roles.map((one) => (
              <label key={one}>
                <input type="radio" name="role" checked={role === one} onChange={() => setRole(one)} />{' '}
                <strong>{ui.roles[one]}</strong>
                <br />
                <span className="dim">{t.roleMeans[one]}</span>
              </label>
            ))}
          </fieldset>
          {error !== undefined && <ProblemAlert error={error} />}
          <Button type="submit" loading={isBusy}>
            {t.sendInvitation}
          </Button>
        </form>
      )}
    </SidePanel>
  );
}
