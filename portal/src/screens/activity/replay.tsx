/** Sending recorded events once more. */
import { Button, Checkbox, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { ProblemAlert } from '../../ui/index.ts';
import { replaysKey } from './replays.tsx';
import { texts } from './texts.ts';

export function Replay({ path }: { path: string }) {
  const t = useTexts(texts);
  const { api, tenant } = useTenant();
  const [since, setSince] = useState('');
  const [failedOnly, setFailedOnly] = useState(false);
  const [error, setError] = useState<unknown>();
  const [started, setStarted] = useState<{ fromSequence: number; toSequence: number }>();
  const start = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      const body = { since: new Date(since).toISOString(), failedOnly };
      setStarted((await api.post<{ fromSequence: number; toSequence: number }>(`${path}/replay`, { body })).data);
      await queryClient.invalidateQueries({ queryKey: replaysKey(tenant.code, path) });
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <form className="form card" onSubmit={start}>
      <p className="dim">{t.replayAbout}</p>
      <TextInput
        label={t.since}
        type="datetime-local"
        required
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
      />
      <Checkbox
        label={t.failedOnly}
        checked={failedOnly}
        onChange={(event) => setFailedOnly(event.currentTarget.checked)}
      />
      {error !== undefined && <ProblemAlert error={error} />}
      {started && <p role="status">{t.replayStarted(started.fromSequence, started.toSequence)}</p>}
      <div>
        <Button type="submit">{t.startReplay}</Button>
      </div>
    </form>
  );
}
