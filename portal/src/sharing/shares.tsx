/** What the person shares with others, what others share with it, and what it has besides. */
import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { segment } from '../core/api.ts';
import { isMissing } from '../core/problem.ts';
import { queryClient } from '../core/query.ts';
import { useLanguage } from '../core/texts.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Notice } from '../ui/page.tsx';
import { ProblemAlert } from '../ui/problem-alert.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast } from '../ui/toasts.tsx';
import { own } from './session.ts';
import { Head } from './shell.tsx';
import { useSharingTexts } from './texts.ts';
import { Day, type DisplayNames, nameOf, Thing, Things } from './thing.tsx';

type Share = {
  id: string;
  what: { type: string; id: string };
  displayNames: DisplayNames;
  contact?: string;
  invitor?: { displayName: string };
  since?: string;
  expiresAt?: string;
  canEnd: boolean;
};
type Answer = { given: Share[]; received: Share[]; own?: Share[]; more: boolean };
type Kind = 'given' | 'received' | 'own';

export function Shares() {
  const t = useSharingTexts();
  const { language } = useLanguage();
  const [ending, setEnding] = useState<{ kind: Kind; share: Share }>();
  const { data, error, isLoading, refetch } = useQuery({
    queryKey: ['shares', language],
    queryFn: ({ signal }) => own.get<Answer>('/sharing/shares', { query: { language }, signal }),
    placeholderData: keepPreviousData,
  });
  const list = (kind: Kind, shares: readonly Share[] = []) => (
    <Things title={t.shares[kind].title} empty={t.shares[kind].empty} isLoading={isLoading}>
      {shares.map((share) => (
        <OneShare key={share.id} kind={kind} share={share} onEnd={() => setEnding({ kind, share })} />
      ))}
    </Things>
  );
  return (
    <>
      <Head title={t.pages.shares} about={t.shares.about} />
      {error && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {list('given', data?.given)}
      {list('received', data?.received)}
      {data?.own !== undefined && data.own.length > 0 && list('own', data.own)}
      {data?.more && <Notice>{t.shares.more}</Notice>}
      {ending && <Ending {...ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

function OneShare({ kind, share, onEnd }: { kind: Kind; share: Share; onEnd: () => void }) {
  const t = useSharingTexts();
  const { what, displayNames, contact, invitor, since, expiresAt, canEnd } = share;
  const end = t.shares[kind].end;
  const name = nameOf(displayNames, what);
  return (
    <Thing
      title={name}
      lines={[
        displayNames.relationshipType,
        contact !== undefined && t.shares.with(contact),
        invitor !== undefined && t.shares.from(invitor.displayName),
        since !== undefined && (
          <>
            {t.since} <RelativeTime at={since} />
          </>
        ),
        expiresAt !== undefined && (
          <>
            {t.until} <Day at={expiresAt} />
          </>
        ),
      ]}
      actions={
        canEnd && (
          <Button variant="default" onClick={onEnd} aria-label={`${end}: ${name} ${contact ?? ''}`.trim()}>
            {end}
          </Button>
        )
      }
    />
  );
}

function Ending({ kind, share, onClose }: { kind: Kind; share: Share; onClose: () => void }) {
  const t = useSharingTexts();
  const words = t.shares[kind];
  const { id, what, displayNames, contact } = share;
  const end = async () => {
    try {
      await own.delete(`/sharing/shares/${segment(id)}`);
      toast({ text: t.ended });
    } catch (error) {
      // Somebody else was faster.
      if (!isMissing(error)) throw error;
      toast({ text: t.gone });
    }
    await queryClient.invalidateQueries({ queryKey: ['shares'] });
  };
  return (
    <Confirm
      title={words.question(nameOf(displayNames, what), contact ?? '')}
      consequences={[words.follows(displayNames.relationshipType), t.shares.again]}
      action={words.end}
      onConfirm={end}
      onClose={onClose}
    />
  );
}
