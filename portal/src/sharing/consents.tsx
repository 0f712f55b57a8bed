/** What the person agreed to, what it says and until when it counts, and what waits for an answer. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { segment } from '../core/api.ts';
import { isMissing, isOver } from '../core/problem.ts';
import { queryClient } from '../core/query.ts';
import { useLanguage } from '../core/texts.ts';
import { Confirm } from '../ui/confirm.tsx';
import { State } from '../ui/page.tsx';
import { ProblemAlert } from '../ui/problem-alert.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast } from '../ui/toasts.tsx';
import { type Content, DocumentText } from './document-text.tsx';
import { own } from './session.ts';
import { Head } from './shell.tsx';
import { useSharingTexts } from './texts.ts';
import { Day, Thing, Things } from './thing.tsx';

type Status = 'given' | 'valid' | 'grace' | 'required' | 'expired';
type Document = { name: string; version: string; document: { version: string; language: string }; content?: Content };
type Given = Document & { id: string; givenAt: string; status: Status; endsAt?: string };
type Waiting = Document & { status: Status; gracePeriodEnds?: string };
type Outstanding = { consents: Waiting[]; inOtherLanguages?: { name: string; languages: string[] }[] };

const titleOf = ({ name, content }: Document) => content?.title ?? name;

/** In the language of the page, and what there is in others only, in the first of them. */
async function outstanding(language: string, signal: AbortSignal): Promise<Waiting[]> {
  const ask = (query: { language: string; names?: string }) =>
    own.get<Outstanding>('/consents/outstanding', { query, signal });
  const { consents, inOtherLanguages = [] } = await ask({ language });
  const others = Map.groupBy(inOtherLanguages, ({ languages: [first = language] }) => first);
  const found = await Promise.all(
    [...others].map(([other, of]) => ask({ language: other, names: of.map(({ name }) => name).join(',') })),
  );
  return [...consents, ...found.flatMap((one) => one.consents)];
}

const reload = () =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: ['consents'] }),
    queryClient.invalidateQueries({ queryKey: ['outstanding'] }),
  ]);

export function Consents() {
  const t = useSharingTexts();
  const { language } = useLanguage();
  const [ending, setEnding] = useState<Given>();
  const given = useQuery({
    queryKey: ['consents'],
    queryFn: async ({ signal }) => (await own.get<{ consents: Given[] }>('/consents/me', { signal })).consents,
  });
  const waiting = useQuery({
    queryKey: ['outstanding', language],
    queryFn: ({ signal }) => outstanding(language, signal),
  });
  // Taking back the newest of a definition takes the older ones too.
  const newest = [...Map.groupBy(given.data ?? [], ({ name }) => name).values()].flatMap(([first]) => first ?? []);
  const known = new Set(newest.map(({ name }) => name));
  const error = given.error ?? waiting.error;
  return (
    <>
      <Head title={t.pages.consents} about={t.consents.about} />
      {error && <ProblemAlert error={error} onRetry={() => void reload()} />}
      <Things title={t.consents.waiting} empty={t.consents.noneWaiting} isLoading={waiting.isLoading}>
        {(waiting.data ?? []).map((one) => (
          <OneWaiting key={one.name} one={one} isRenewal={known.has(one.name)} />
        ))}
      </Things>
      <Things title={t.consents.given} empty={t.consents.noneGiven} isLoading={given.isLoading}>
        {newest.map((one) => (
          <OneGiven key={one.id} one={one} onTakeBack={() => setEnding(one)} />
        ))}
      </Things>
      {ending && <TakingBack one={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

function OneWaiting({ one, isRenewal }: { one: Waiting; isRenewal: boolean }) {
  const t = useSharingTexts();
  const [busy, setBusy] = useState<'agree' | 'refuse'>();
  const [error, setError] = useState<unknown>();
  const { name, version, document, gracePeriodEnds } = one;
  const title = titleOf(one);
  const answer = async (kind: 'agree' | 'refuse') => {
    setBusy(kind);
    setError(undefined);
    try {
      await own.post(kind === 'agree' ? '/consents' : '/consents/refusals', { body: { name, version, document } });
      toast({ text: kind === 'agree' ? t.consents.agreed : t.consents.refused });
      await reload();
    } catch (caught) {
      setError(caught);
      // There may be another version, or none, to answer.
      if (isOver(caught)) await reload();
    }
    setBusy(undefined);
  };
  const agree = isRenewal ? t.consents.renew : t.consents.agree;
  return (
    <Thing
      title={<span lang={document.language}>{title}</span>}
      lines={[
        t.consents.version(version),
        isRenewal && t.consents.renewal,
        gracePeriodEnds !== undefined && (
          <>
            {t.consents.answerBy} <Day at={gracePeriodEnds} />
          </>
        ),
      ]}
    >
      <div className="stack">
        {one.content && <DocumentText content={one.content} language={document.language} isOpen />}
        {error !== undefined && <ProblemAlert error={error} />}
        <div className="row">
          <Button
            loading={busy === 'agree'}
            disabled={busy !== undefined}
            aria-label={`${agree}: ${title}`}
            onClick={() => void answer('agree')}
          >
            {agree}
          </Button>
          <Button
            variant="default"
            loading={busy === 'refuse'}
            disabled={busy !== undefined}
            aria-label={`${t.consents.refuse}: ${title}`}
            onClick={() => void answer('refuse')}
          >
            {t.consents.refuse}
          </Button>
        </div>
      </div>
    </Thing>
  );
}

const tones = { given: 'ok', valid: 'ok', grace: 'warn', required: 'none', expired: 'none' } as const;

function OneGiven({ one, onTakeBack }: { one: Given; onTakeBack: () => void }) {
  const t = useSharingTexts();
  const { version, document, givenAt, status, endsAt, content } = one;
  const title = titleOf(one);
  return (
    <Thing
      title={
        <>
          <span lang={document.language}>{title}</span> <State tone={tones[status]}>{t.consents.status[status]}</State>
        </>
      }
      lines={[
        t.consents.version(version),
        <>
          {t.consents.givenAt} <RelativeTime at={givenAt} />
        </>,
        endsAt !== undefined && (
          <>
            {t.consents.counts} <Day at={endsAt} />
          </>
        ),
      ]}
      actions={
        <Button variant="default" aria-label={`${t.consents.takeBack}: ${title}`} onClick={onTakeBack}>
          {t.consents.takeBack}
        </Button>
      }
    >
      {content && <DocumentText content={content} language={document.language} />}
    </Thing>
  );
}

function TakingBack({ one, onClose }: { one: Given; onClose: () => void }) {
  const t = useSharingTexts();
  const end = async () => {
    try {
      await own.delete(`/consents/${segment(one.id)}`);
      toast({ text: t.consents.takenBack });
    } catch (error) {
      if (!isMissing(error)) throw error;
      toast({ text: t.gone });
    }
    await reload();
  };
  return (
    <Confirm
      title={t.consents.takeBackQuestion(titleOf(one))}
      consequences={[t.consents.takeBackFollows]}
      action={t.consents.takeBack}
      onConfirm={end}
      onClose={onClose}
    />
  );
}
