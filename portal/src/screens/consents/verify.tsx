/**
 * Verifies the chain of the ledger. The server says after each portion how far it is, and at the end what it found: without that nothing
 * is verified. The last checkpoint is kept in this browser and compared with the next time.
 */
import { Button, Textarea } from '@mantine/core';
import { useRef, useState } from 'react';
import { linesOf } from '../../core/pieces.ts';
import { BrokenOff } from '../../core/problem.ts';
import { useTenant } from '../../core/session.ts';
import { useLanguage, useTexts } from '../../core/texts.ts';
import { Notice, ProblemAlert, Progress, RelativeTime } from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { texts } from './texts.ts';

type Found = {
  valid: boolean;
  entries: number;
  checkpoint?: string;
  firstBad?: { sequence: number; id?: string; problem: keyof (typeof texts)['en']['problems'] };
};
type Done = { entries: number; of?: number };
type Kept = { at: string; checkpoint: string; entries: number };

const keyOf = (tenant: string) => `accord.checkpoint.${tenant}`;
function read(tenant: string): Kept | undefined {
  try {
    return JSON.parse(localStorage.getItem(keyOf(tenant)) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

export function Verify() {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const number = (count: number) => count.toLocaleString(language);
  const { tenant, api } = useTenant();
  const [kept, setKept] = useState(() => read(tenant.code));
  const [earlier, setEarlier] = useState('');
  const [found, setFound] = useState<Found>();
  const [error, setError] = useState<unknown>();
  const running = useRef<AbortController>(undefined);
  const [done, setDone] = useState<Done>();
  const [cancelledAt, setCancelledAt] = useState<Done>();
  const verify = async () => {
    const controller = new AbortController();
    running.current = controller;
    let last: Done = { entries: 0 };
    setDone(last);
    setCancelledAt(undefined);
    setError(undefined);
    setFound(undefined);
    const checkpoint = earlier.trim() || kept?.checkpoint;
    try {
      const { signal } = controller;
      const asked = { query: { checkpoint }, accept: 'application/x-ndjson', signal };
      const answer = await api.send('GET', '/consents/events/verify', asked);
      let data: Found | undefined;
      for await (const line of linesOf(answer, signal)) {
        const said = JSON.parse(line) as { progress: Done } | Found;
        if ('progress' in said) {
          last = said.progress;
          setDone(last);
        } else data = said;
      }
      if (data === undefined) throw new BrokenOff();
      setFound(data);
      if (data.valid && data.checkpoint !== undefined) {
        const next = { at: new Date().toISOString(), checkpoint: data.checkpoint, entries: data.entries };
        localStorage.setItem(keyOf(tenant.code), JSON.stringify(next));
        setKept(next);
      }
    } catch (caught) {
      if (controller.signal.aborted) setCancelledAt(last);
      else setError(caught);
    }
    setDone(undefined);
  };
  return (
    <section className="card stack" aria-label={t.verify}>
      <div className="row">
        <Button variant="default" disabled={done !== undefined} onClick={() => void verify()}>
          {t.verify}
        </Button>
        {kept && (
          <span className="dim">
            {t.lastCheckpoint(kept.entries)} <RelativeTime at={kept.at} />
          </span>
        )}
      </div>
      {done && (
        <Progress
          label={t.verifying}
          done={done.entries}
          {...(done.of === undefined ? {} : { total: done.of })}
          onCancel={() => running.current?.abort()}
        />
      )}
      {cancelledAt && (
        <div role="status">
          <Notice tone="warn">
            <p>
              {t.verificationCancelled(
                number(cancelledAt.entries),
                cancelledAt.of === undefined ? undefined : number(cancelledAt.of),
              )}
            </p>
          </Notice>
        </div>
      )}
      {error !== undefined && <ProblemAlert error={error} />}
      {found && <Result found={found} />}
      <details>
        <summary>{t.earlier}</summary>
        <div className="stack">
          <p className="dim">{t.earlierAbout}</p>
          <Textarea
            label={t.earlierLabel}
            autosize={false}
            rows={3}
            maxLength={2048}
            value={earlier}
            onChange={(event) => setEarlier(event.currentTarget.value)}
          />
          {kept && <CodeBlock code={kept.checkpoint} />}
        </div>
      </details>
    </section>
  );
}

function Result({ found: { valid, entries, firstBad } }: { found: Found }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const count = entries.toLocaleString(language);
  return (
    <div role="status">
      <Notice tone={valid ? 'none' : 'bad'}>
        {valid ? (
          <p>{t.isValid(count)}</p>
        ) : (
          <>
            <p>{t.isInvalid(count, firstBad?.sequence ?? entries + 1)}</p>
            {firstBad && <p>{t.problems[firstBad.problem]}</p>}
          </>
        )}
      </Notice>
    </div>
  );
}
