/** Whether a token would be accepted, check by check. The token is in this page only: neither a draft nor the cache has it. */
import { Button, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTenant } from '../../../core/session.ts';
import { useTexts } from '../../../core/texts.ts';
import { curl, Facts, Notice, ProblemAlert, ShowAs, State } from '../../../ui/index.ts';
import type { CheckTexts } from './texts.en.ts';
import { texts } from './texts.ts';

type Step = {
  step: keyof CheckTexts['steps'];
  result: 'passed' | 'failed' | 'skipped';
  detail?: string;
  found: Record<string, unknown>;
  accepted?: string[];
};
type Caller =
  | { kind: 'user'; actor: { type: string; id: string }; email?: string }
  | { kind: 'backend'; clientId: string; scopes: string[] };
type Checked = { accepted: boolean; trustedIssuer?: string; steps: Step[]; caller?: Caller; boundToKey: boolean };

/** As people copy it from a header. */
const tokenOf = (text: string) => text.trim().replace(/^(bearer|dpop)\s+/i, '');

/** @param issuer of whose page it is; absent: of all of them */
export function TokenCheck({ issuer }: { issuer?: string }) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const [text, setText] = useState('');
  const [checked, setChecked] = useState<Checked>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const check = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    setChecked(undefined);
    try {
      setChecked((await api.post<Checked>('/tokens/check', { body: { token: tokenOf(text) } })).data);
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  const forget = () => {
    setText('');
    setChecked(undefined);
    setError(undefined);
  };
  return (
    <section className="card stack" aria-label={t.title}>
      <div className="row">
        <h2>{t.title}</h2>
        <ShowAs curl={curl(api.path('/tokens/check'), { method: 'POST', body: { token: 'eyJ…' } })} />
      </div>
      <p className="dim">{t.about}</p>
      <form className="stack" onSubmit={check}>
        <Textarea
          label={t.token}
          required
          rows={4}
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <div className="row">
          <Button type="submit" variant="default" loading={isBusy}>
            {t.check}
          </Button>
          {(text !== '' || checked !== undefined) && (
            <Button variant="subtle" onClick={forget}>
              {t.forget}
            </Button>
          )}
        </div>
      </form>
      {error !== undefined && <ProblemAlert error={error} />}
      {checked && <Answer checked={checked} issuer={issuer} />}
    </section>
  );
}

function Answer({ checked, issuer }: { checked: Checked; issuer: string | undefined }) {
  const t = useTexts(texts);
  const { accepted, trustedIssuer, steps, caller, boundToKey } = checked;
  const isOfTrusted = steps.some(({ step, result }) => step === 'issuer' && result === 'passed');
  const failed = steps.find(({ result }) => result === 'failed');
  return (
    <div className="stack">
      <div role="status">
        <Notice tone={accepted ? 'none' : 'bad'}>
          <strong>{accepted ? t.accepted : t.refused}</strong>
          {failed?.detail !== undefined && <p>{failed.detail}</p>}
          {boundToKey && <p>{t.bound}</p>}
        </Notice>
      </div>
      {issuer !== undefined && isOfTrusted && trustedIssuer !== issuer && (
        <Notice tone="warn">{trustedIssuer === undefined ? t.ofOwn : t.ofAnother(trustedIssuer)}</Notice>
      )}
      {caller && <Facts facts={callerFacts(caller, t)} />}
      <ol className="token-steps">
        {steps.map((step) => (
          <StepShown key={step.step} {...step} />
        ))}
      </ol>
    </div>
  );
}

function callerFacts(caller: Caller, t: CheckTexts): [string, string | undefined][] {
  if (caller.kind === 'user')
    return [
      [t.caller, t.user(caller.actor.type, caller.actor.id)],
      [t.email, caller.email],
    ];
  return [
    [t.caller, t.backend(caller.clientId)],
    [t.scopes, caller.scopes.length === 0 ? t.noScopes : caller.scopes.join(' ')],
  ];
}

const tones = { passed: 'ok', failed: 'bad', skipped: 'none' } as const;

function StepShown({ step, result, detail, found, accepted }: Step) {
  const t = useTexts(texts);
  const hint =
    step !== 'format' ? undefined : found.parts === 1 ? t.opaque : found.parts === 5 ? t.encrypted : undefined;
  const named = { now: t.now, failure: t.failure, characters: t.characters, parts: t.parts };
  const facts: [string, string][] = Object.entries(found).map(([name, value]) => [
    name in named ? named[name as keyof typeof named] : name,
    step === 'times' && typeof value === 'number' ? instant(value) : shown(value),
  ]);
  const would = accepted?.map((one) => (one === '' ? t.noKid : one)).join(', ');
  return (
    <li>
      <div className="row">
        <State tone={tones[result]}>{t.results[result]}</State> <strong>{t.steps[step]}</strong>
      </div>
      {detail !== undefined && <p>{detail}</p>}
      {result === 'failed' && hint !== undefined && <p>{hint}</p>}
      {result !== 'skipped' && <Facts facts={[...facts, [t.wouldPass, accepted?.length === 0 ? t.nothing : would]]} />}
    </li>
  );
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Of seconds since 1970, as claims have them; what is no instant stands as it is. */
function instant(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}
