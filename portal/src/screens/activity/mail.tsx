/** Mails that were sent or wait, and addresses that get none. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { queryClient, usePages } from '../../core/query.ts';
import { mayDo, useSession, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, DataTable, Empty, Icon, ProblemAlert, RelativeTime, ShowAs, State, toast } from '../../ui/index.ts';
import { ActivityPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Status = 'waiting' | 'sent' | 'failed';
export type Message = {
  messageId: string;
  template: string;
  language?: string;
  to: string;
  status: Status;
  reason?: string;
  answer?: string;
  attempts: number;
  createdAt: string;
};
type Suppression = { id: string; to?: string; reason: string; at: string };
export const tones = { waiting: 'none', sent: 'ok', failed: 'bad' } as const;

export default function Mail() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const { mailbox } = useSession();
  const pages = usePages(['mails', tenant.code], async (cursor, signal) => {
    const query = { limit: 100, cursor };
    const { data } = await api.get<{ messages: Message[]; cursor?: string }>('/mail/messages', { query, signal });
    return { rows: data.messages, after: data.cursor };
  });
  const body = { template: 'relationship-invitation', to: { type: 'email', value: 'you@example.com' } };
  return (
    <ActivityPage
      place="mail"
      about={t.mailAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/mail/messages'))} />
          {mailbox !== undefined && (
            <Button
              component="a"
              href={mailbox}
              target="_blank"
              rel="noreferrer"
              variant="default"
              leftSection={<Icon name="mail" />}
            >
              {t.mailbox}
            </Button>
          )}
        </>
      }
    >
      <DataTable
        label={t.mail}
        pages={pages}
        rowKey={({ messageId }) => messageId}
        empty={<Empty sentence={t.noMail} call={curl(api.path('/mail/test'), { method: 'POST', body })} />}
        columns={[
          { id: 'when', header: t.when, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          { id: 'to', header: t.to, cell: ({ to }) => to },
          {
            id: 'template',
            header: t.template,
            cell: ({ template, language }) => `${template}${language === undefined ? '' : ` (${language})`}`,
          },
          {
            id: 'status',
            header: t.status,
            cell: ({ status }) => <State tone={tones[status]}>{t.mailStates[status]}</State>,
          },
          { id: 'attempts', header: t.attempts, numeric: true, cell: ({ attempts }) => attempts },
          {
            id: 'answer',
            header: t.mailAnswer,
            cell: ({ reason, answer }) => [reason, answer].filter(Boolean).join(': '),
          },
        ]}
      />
      <Suppressions mayLift={mayDo(tenant.role, 'admin')} />
    </ActivityPage>
  );
}

function Suppressions({ mayLift }: { mayLift: boolean }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [error, setError] = useState<unknown>();
  const pages = usePages(['suppressions', tenant.code], async (cursor, signal) => {
    const query = { limit: 50, cursor };
    const { data } = await api.get<{ suppressions: Suppression[]; cursor?: string }>('/mail/suppressions', {
      query,
      signal,
    });
    return { rows: data.suppressions, after: data.cursor };
  });
  const lift = async (id: string) => {
    setError(undefined);
    try {
      await api.delete(`/mail/suppressions/${id}`);
      await queryClient.invalidateQueries({ queryKey: ['suppressions', tenant.code] });
      toast({ text: t.lifted });
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      <h2>{t.suppressions}</h2>
      <p className="dim">{t.suppressionsAbout}</p>
      {error !== undefined && <ProblemAlert error={error} />}
      <DataTable
        label={t.suppressions}
        pages={pages}
        rowKey={({ id }) => id}
        empty={<p className="dim">{t.noSuppressions}</p>}
        columns={[
          { id: 'to', header: t.to, cell: ({ to }) => to ?? '***' },
          { id: 'reason', header: t.reason, cell: ({ reason }) => reason },
          { id: 'at', header: t.when, cell: ({ at }) => <RelativeTime at={at} /> },
          {
            id: 'lift',
            header: '',
            cell: ({ id }) =>
              mayLift && (
                <button type="button" className="plain chip" onClick={() => void lift(id)}>
                  {t.lift}
                </button>
              ),
          },
        ]}
      />
    </>
  );
}
