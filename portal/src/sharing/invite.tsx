/** Sharing something by sending an invitation: of what the tenant's policies let the person share. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useDraft } from '../core/drafts.ts';
import { useOnce } from '../core/once.ts';
import { ownTenant } from '../core/page.ts';
import { ApiProblem, isOver } from '../core/problem.ts';
import { useLanguage } from '../core/texts.ts';
import { Notice } from '../ui/page.tsx';
import { ProblemAlert } from '../ui/problem-alert.tsx';
import { toast } from '../ui/toasts.tsx';
import { own, useSession } from './session.ts';
import { useSharingTexts } from './texts.ts';
import { type DisplayNames, nameOf } from './thing.tsx';

type Offer = {
  relationshipType: string;
  to: { type: string; id: string };
  displayNames: DisplayNames;
  acceptorType: string;
};
type Typed = { what?: string; email?: string; last?: string };

const labelOf = ({ displayNames, to }: Offer) => `${nameOf(displayNames, to)} · ${displayNames.relationshipType}`;
const keyOf = ({ to, relationshipType }: Offer) => JSON.stringify([to.type, to.id, relationshipType]);

export function Invite({ onSent }: { onSent: () => void }) {
  const t = useSharingTexts();
  const { language } = useLanguage();
  const { data, error, isLoading, refetch } = useQuery({
    queryKey: ['offers', language],
    queryFn: ({ signal }) =>
      own.get<{ offers: Offer[]; more: boolean }>('/sharing/offers', { query: { language }, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <section>
      <h2>{t.invitations.share}</h2>
      {error && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {isLoading && <span className="skeleton" />}
      {data?.offers.length === 0 && <p className="dim">{t.invitations.nothing}</p>}
      {data !== undefined && data.offers.length > 0 && <InviteForm offers={data.offers} onSent={onSent} />}
      {data?.more && <Notice>{t.invitations.moreOffers}</Notice>}
    </section>
  );
}

/** The end of the day where the person is; undefined: no day. */
const endOf = (day: string | undefined) => (day ? new Date(`${day}T23:59:59`) : undefined);

function InviteForm({ offers, onSent }: { offers: readonly Offer[]; onSent: () => void }) {
  const t = useSharingTexts();
  const { language } = useLanguage();
  const { actor } = useSession();
  const { draft, keep, saved } = useDraft<Typed>(`${ownTenant}/sharing/${actor.type}/${actor.id}`);
  const typed = draft ?? {};
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const once = useOnce();
  // What was shown first is chosen until it goes: then the person chooses, and not what comes next in the list.
  const [first] = useState(() => offers[0] && keyOf(offers[0]));
  const set = (change: Typed) => keep({ ...typed, ...change });
  const offer = offers.find((one) => keyOf(one) === (typed.what ?? first));
  const { email = '', last = '' } = typed;
  const ends = endOf(last);
  const isPast = ends !== undefined && ends.getTime() <= Date.now();
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (isPast || offer === undefined) return;
    setBusy(true);
    setError(undefined);
    const { relationshipType, to, acceptorType: type } = offer;
    const body = {
      ...{ relationshipType, to, delivery: 'mail', language },
      invitee: { contact: { type: 'email', value: email.trim() }, type },
      ...(ends === undefined ? {} : { relationshipExpiresAt: ends.toISOString() }),
    };
    try {
      await once(body, (idempotencyKey) => own.post('/sharing/invitations', { body, idempotencyKey }));
      toast({ text: t.invitations.invited(email.trim()) });
      saved(draft);
      onSent();
    } catch (caught) {
      setError(caught);
      if (isOver(caught)) onSent();
    }
    setBusy(false);
  };
  const places = error instanceof ApiProblem ? error.places : [];
  const ofEmail = places.find(({ pointer }) => pointer === '/invitee/contact/value')?.detail;
  return (
    <form className="card form" onSubmit={(event) => void send(event)}>
      <p className="dim">{t.invitations.shareAbout}</p>
      <NativeSelect
        label={t.invitations.what}
        required
        withAsterisk={false}
        value={offer ? keyOf(offer) : ''}
        data={[
          ...(offer ? [] : [{ value: '', label: t.invitations.choose, disabled: true }]),
          ...offers.map((one) => ({ value: keyOf(one), label: labelOf(one) })),
        ]}
        onChange={(event) => set({ what: event.currentTarget.value })}
      />
      <TextInput
        label={t.invitations.email}
        type="email"
        autoComplete="off"
        required
        withAsterisk={false}
        value={email}
        error={ofEmail}
        onChange={(event) => set({ email: event.currentTarget.value })}
      />
      <TextInput
        label={t.invitations.last}
        description={t.invitations.lastAbout}
        type="date"
        value={last}
        error={isPast ? t.invitations.past : undefined}
        onChange={(event) => set({ last: event.currentTarget.value })}
      />
      {error !== undefined && ofEmail === undefined && <ProblemAlert error={error} />}
      <div className="row">
        <Button type="submit" loading={isBusy}>
          {t.invitations.send}
        </Button>
      </div>
    </form>
  );
}
