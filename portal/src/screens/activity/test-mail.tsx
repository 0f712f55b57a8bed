/** A mail by the saved template to an address of one's choice, with values of its variables. */
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiProblem } from '../../core/problem.ts';
import { queryClient } from '../../core/query.ts';
import { useSession, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Link, Notice, ProblemAlert, SidePanel, State } from '../../ui/index.ts';
import { type Message, tones } from './mail.tsx';
import { texts } from './texts.ts';

/** `samples`: of the variables of a built-in mail. */
export type Tried = {
  name: string;
  language: string;
  variables: readonly string[];
  samples?: Readonly<Record<string, string | number>>;
};
type Values = Readonly<Record<string, string>>;

type Props = { of: Tried; hasDraft: boolean; onClose: () => void };

export function TestMail({ of, hasDraft, onClose }: Props) {
  const t = useTexts(texts);
  const { email } = useSession();
  const { tenant, api } = useTenant();
  const { name, language, variables, samples } = of;
  const [to, setTo] = useState(email);
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(variables.map((one) => [one, String(samples?.[one] ?? '')])),
  );
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [sent, setSent] = useState<string>();
  const read = variables.map((one) => [one, readValue(values[one] ?? '', samples?.[one])] as const);
  const unreadable = read.filter(([, value]) => value.why !== undefined);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (unreadable.length > 0) return;
    setBusy(true);
    setError(undefined);
    setSent(undefined);
    const given = read.filter(([, { value }]) => value !== undefined).map(([one, { value }]) => [one, value]);
    const body = {
      ...{ template: name, language, to: { type: 'email', value: to.trim() } },
      variables: Object.fromEntries(given),
    };
    try {
      setSent((await api.post<{ messageId: string }>('/mail/test', { body })).data.messageId);
      void queryClient.invalidateQueries({ queryKey: ['mails', tenant.code] });
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  const places = error instanceof ApiProblem ? error.places : [];
  const at = (pointer: string) => places.find((place) => place.pointer === pointer)?.detail;
  const hasField = (pointer: string) => pointer === '/to/value' || pointer.startsWith('/variables/');
  const isElsewhere = error !== undefined && (places.length === 0 || places.some((one) => !hasField(one.pointer)));
  return (
    <SidePanel title={t.testMail} label={t.testMail} onClose={onClose}>
      <div className="stack">
        <p className="dim">{samples === undefined ? t.testMailOwn : t.testMailBuiltIn}</p>
        {hasDraft && <Notice tone="warn">{t.testMailDraft}</Notice>}
        {/* What is wrong is said by the server, at its field. */}
        <form className="form" noValidate onSubmit={(event) => void send(event)}>
          <TextInput
            label={t.to}
            type="email"
            autoComplete="off"
            value={to}
            error={at('/to/value')}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
          {read.map(([one, { why }]) => (
            <TextInput
              key={one}
              label={one}
              labelProps={{ className: 'mono' }}
              autoComplete="off"
              value={values[one] ?? ''}
              error={(why && t.valueNotJson(why)) ?? at(`/variables/${one}`)}
              onChange={(event) => setValues({ ...values, [one]: event.currentTarget.value })}
            />
          ))}
          {isElsewhere && <ProblemAlert error={error} />}
          <Button type="submit" loading={isBusy}>
            {t.sendTestMail}
          </Button>
        </form>
        {sent !== undefined && <Outcome key={sent} messageId={sent} />}
      </div>
    </SidePanel>
  );
}

type Read = { value?: unknown; why?: string };

/**
 * A value as it is sent: a number where the sample is one. Of a template of the tenant's own, whose variables may be anything, an object
 * or a list is JSON, and one without a value is left out.
 */
function readValue(text: string, sample: string | number | undefined): Read {
  if (typeof sample === 'number') return { value: text.trim() === '' ? text : numberOf(text) };
  if (sample !== undefined) return { value: text };
  if (text === '') return {};
  if (!/^\s*[[{]/.test(text)) return { value: text };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { why: (error as Error).message };
  }
}

const numberOf = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : text);

/** A mail server usually answers within a second; one that is away is tried again for days. */
const LOOKS_MAX = 30;

function Outcome({ messageId }: { messageId: string }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const { mailbox } = useSession();
  const { data: mail, error } = useQuery({
    queryKey: ['mails', tenant.code, messageId],
    queryFn: async ({ signal }) => {
      const { data } = await api.get<{ messages: Message[] }>('/mail/messages', { query: { limit: 50 }, signal });
      return data.messages.find((one) => one.messageId === messageId) ?? null;
    },
    refetchInterval: ({ state }) =>
      state.data?.status === 'waiting' && state.dataUpdateCount < LOOKS_MAX ? 1000 : false,
  });
  const status = mail?.status ?? 'waiting';
  return (
    <div className="stack" role="status">
      <p>
        <State tone={tones[status]}>{t.mailStates[status]}</State> {mail?.to} {mail?.reason}
      </p>
      {mail?.answer !== undefined && <p className="mono">{mail.answer}</p>}
      {error && <ProblemAlert error={error} />}
      <p className="row">
        <Link to="/activity/mail">{t.inTheLog}</Link>
        {mailbox !== undefined && (
          <a href={mailbox} target="_blank" rel="noreferrer">
            {t.mailbox}
          </a>
        )}
      </p>
    </div>
  );
}
