/** Invitations that the person received, with accepting and declining, and those that it sent. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { ApiProblem, isOver } from '../core/problem.ts';
import { queryClient, usePages } from '../core/query.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Notice, State } from '../ui/page.tsx';
import { ProblemAlert } from '../ui/problem-alert.tsx';
import { useUiTexts } from '../ui/texts.ts';
import { RelativeTime } from '../ui/time.tsx';
import { toast } from '../ui/toasts.tsx';
import { Invite } from './invite.tsx';
import { own, useSession } from './session.ts';
import { Head } from './shell.tsx';
import { useSharingTexts } from './texts.ts';
import { Day, nameOf, Thing, Things } from './thing.tsx';

type Status = 'pending' | 'accepted' | 'declined' | 'revoked' | 'expired';
type Invitation = {
  invitationId: string;
  status: Status;
  relationshipType: string;
  to: { type: string; id: string };
  invitorName?: string;
  invitee: { contact: { masked: string } };
  createdAt: string;
  expiresAt: string;
  relationshipExpiresAt?: string;
  maxUses: number;
  uses: number;
  actions?: ('resend' | 'revoke' | 'accept' | 'decline')[];
};
type Page = { invitations: Invitation[]; cursor?: string };

const PAGE = 20;
const path = '/sharing/invitations';
const tones = { pending: 'accent', accepted: 'ok', declined: 'none', revoked: 'none', expired: 'none' } as const;

const reload = () =>
  Promise.all(
    ['received', 'sent', 'shares', 'offers'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })),
  );

export function Invitations() {
  const t = useSharingTexts();
  return (
    <>
      <Head title={t.pages.invitations} about={t.invitations.about} />
      <Received />
      <Invite onSent={() => void reload()} />
      <Sent />
    </>
  );
}

function Received() {
  const t = useSharingTexts();
  const { emailVerified } = useSession();
  const ui = useUiTexts();
  const load = async (cursor: string | undefined, signal: AbortSignal) => {
    const query = { received: true, actions: true, status: 'pending', limit: PAGE, cursor };
    const page = await own.get<Page>(path, { query, signal });
    return { rows: page.invitations, after: page.cursor };
  };
  const pages = usePages<Invitation>(['received'], load, { enabled: emailVerified });
  if (!emailVerified) return <Notice>{t.invitations.unverified}</Notice>;
  return (
    <>
      {pages.error && <ProblemAlert error={pages.error} onRetry={pages.reload} />}
      <Things title={t.invitations.received} empty={t.invitations.noneReceived} isLoading={pages.isLoading}>
        {pages.rows.map((one) => (
          <OneReceived key={one.invitationId} one={one} />
        ))}
      </Things>
      {pages.hasMore && (
        <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
          {ui.loadMore}
        </Button>
      )}
    </>
  );
}

function Lines({ one, isReceived }: { one: Invitation; isReceived: boolean }) {
  const { invitations: t } = useSharingTexts();
  const { status, invitorName, invitee, createdAt, expiresAt, relationshipExpiresAt, maxUses, uses } = one;
  const who = isReceived ? invitorName && t.from(invitorName) : t.to(invitee.contact.masked);
  return (
    <>
      <code>{one.relationshipType}</code>
      {who && <> · {who}</>} · {t.sentAt} <RelativeTime at={createdAt} />
      {status === 'pending' && (
        <>
          {' '}
          · {t.open} <Day at={expiresAt} />
        </>
      )}
      {relationshipExpiresAt !== undefined && (
        <>
          {' '}
          · {t.access} <Day at={relationshipExpiresAt} />
        </>
      )}
      {maxUses > 1 && !isReceived && <> · {t.usedOf(uses, maxUses)}</>}
    </>
  );
}

/** One act at a time, with its error in place. */
function useAct() {
  const t = useSharingTexts();
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<unknown>();
  const act = async (name: string, doing: () => Promise<unknown>, done: string) => {
    setBusy(name);
    setError(undefined);
    try {
      await doing();
      toast({ text: done });
      await reload();
    } catch (caught) {
      const seconds = caught instanceof ApiProblem && caught.status === 429 ? caught.retryAfterSeconds : undefined;
      if (seconds !== undefined && name === 'resend') toast({ text: t.invitations.wait(seconds) });
      else setError(caught);
      if (isOver(caught)) {
        // What is shown is old, and may go with its error. One for several people goes on.
        if (caught.code !== 'invitation_shared') toast({ text: t.gone });
        await reload();
      }
    }
    setBusy(undefined);
  };
  return { busy, error, act };
}

function OneReceived({ one }: { one: Invitation }) {
  const t = useSharingTexts();
  const { busy, error, act } = useAct();
  const { invitationId, to, actions = [] } = one;
  const answer = (verb: 'accept' | 'decline') =>
    act(
      verb,
      () => own.post(`${path}/${invitationId}/${verb}`),
      verb === 'accept' ? t.invitations.accepted : t.invitations.declined,
    );
  return (
    <Thing
      title={nameOf(to)}
      lines={[<Lines key="lines" one={one} isReceived />]}
      actions={(['accept', 'decline'] as const)
        .filter((verb) => actions.includes(verb))
        .map((verb) => (
          <Button
            key={verb}
            variant={verb === 'accept' ? 'filled' : 'default'}
            loading={busy === verb}
            disabled={busy !== undefined}
            aria-label={`${t.invitations[verb]}: ${nameOf(to)}`}
            onClick={() => void answer(verb)}
          >
            {t.invitations[verb]}
          </Button>
        ))}
    >
      {error !== undefined && <ProblemAlert error={error} />}
    </Thing>
  );
}

function Sent() {
  const t = useSharingTexts();
  const ui = useUiTexts();
  const [ending, setEnding] = useState<Invitation>();
  const pages = usePages<Invitation>(['sent'], async (cursor, signal) => {
    const page = await own.get<Page>(path, { query: { actions: true, limit: PAGE, cursor }, signal });
    return { rows: page.invitations, after: page.cursor };
  });
  return (
    <>
      {pages.error && <ProblemAlert error={pages.error} onRetry={pages.reload} />}
      <Things title={t.invitations.sent} empty={t.invitations.noneSent} isLoading={pages.isLoading}>
        {pages.rows.map((one) => (
          <OneSent key={one.invitationId} one={one} onWithdraw={() => setEnding(one)} />
        ))}
      </Things>
      {pages.hasMore && (
        <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
          {ui.loadMore}
        </Button>
      )}
      {ending && <Withdrawing one={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

function OneSent({ one, onWithdraw }: { one: Invitation; onWithdraw: () => void }) {
  const t = useSharingTexts();
  const { busy, error, act } = useAct();
  const { invitationId, to, status, actions = [], invitee } = one;
  const named = `${nameOf(to)} ${invitee.contact.masked}`;
  const resend = () => act('resend', () => own.post(`${path}/${invitationId}/resend`), t.invitations.resent);
  return (
    <Thing
      title={
        <>
          {nameOf(to)}{' '}
          <State tone={tones[status]} icon={status === 'pending' ? 'clock' : undefined}>
            {t.invitations.status[status]}
          </State>
        </>
      }
      lines={[<Lines key="lines" one={one} isReceived={false} />]}
      actions={
        actions.length > 0 && (
          <>
            {actions.includes('resend') && (
              <Button
                variant="default"
                loading={busy === 'resend'}
                aria-label={`${t.invitations.resend}: ${named}`}
                onClick={() => void resend()}
              >
                {t.invitations.resend}
              </Button>
            )}
            {actions.includes('revoke') && (
              <Button variant="default" aria-label={`${t.invitations.withdraw}: ${named}`} onClick={onWithdraw}>
                {t.invitations.withdraw}
              </Button>
            )}
          </>
        )
      }
    >
      {error !== undefined && <ProblemAlert error={error} />}
    </Thing>
  );
}

function Withdrawing({ one, onClose }: { one: Invitation; onClose: () => void }) {
  const t = useSharingTexts();
  const end = async () => {
    try {
      await own.delete(`${path}/${one.invitationId}`);
      toast({ text: t.invitations.withdrawn });
    } catch (error) {
      if (!isOver(error)) throw error;
      toast({ text: t.gone });
    }
    await reload();
  };
  return (
    <Confirm
      title={t.invitations.withdrawQuestion(nameOf(one.to), one.invitee.contact.masked)}
      consequences={[t.invitations.withdrawFollows]}
      action={t.invitations.withdraw}
      onConfirm={end}
      onClose={onClose}
    />
  );
}
