/**
 * Verifies the chain of the ledger. The server answers when it has looked at all entries, so that only the time is shown meanwhile.
 * The last checkpoint is kept in this browser and compared with the next time.
 */
import { Button, Textarea } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTenant } from '../../core/session.ts';
import { useLanguage, useTexts } from '../../core/texts.ts';
import { Notice, ProblemAlert, RelativeTime } from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { texts } from './texts.ts';

type Found = {
  valid: boolean;
  entries: number;
  checkpoint?: string;
  firstBad?: { sequence: number; id?: string; problem: keyof (typeof texts)['en']['problems'] };
};
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
  const { tenant, api } = useTenant();
  const [kept, setKept] = useState(() => read(tenant.code));
  const [earlier, setEarlier] = useState('');
  const [found, setFound] = useState<Found>();
  const [error, setError] = useState<unknown>();
  const running = useRef<AbortController>(undefined);
  const [isBusy, setBusy] = useState(false);
  const verify = async () => {
    const controller = new AbortController();
    running.current = controller;
    setBusy(true);
    setError(undefined);
    setFound(undefined);
    const checkpoint = earlier.trim() || kept?.checkpoint;
    try {
      const { data } = await api.get<Found>('/consents/events/verify', {
        query: { checkpoint },
        signal: controller.signal,
      });
      setFound(data);
      if (data.valid && data.checkpoint !== undefined) {
        const next = { at: new Date().toISOString(), checkpoint: data.checkpoint, entries: data.entries };
        localStorage.setItem(keyOf(tenant.code), JSON.stringify(next));
        setKept(next);
      }
    } catch (caught) {
      if (!controller.signal.aborted) setError(caught);
    }
    setBusy(false);
  };
  return (
    <section className="card stack" aria-label={t.verify}>
      <div className="row">
        <Button variant="default" disabled={isBusy} onClick={() => void verify()}>
          {t.verify}
        </Button>
        {kept && (
          <span className="dim">
            {t.lastCheckpoint(kept.entries)} <RelativeTime at={kept.at} />
          </span>
        )}
      </div>
      {isBusy && (
        <div className="progress">
          <strong>{t.verifying}</strong>
          <progress aria-label={t.verifying} />
          <div>
            <Button variant="default" onClick={() => running.current?.abort()}>
              {t.stop}
            </Button>
          </div>
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
