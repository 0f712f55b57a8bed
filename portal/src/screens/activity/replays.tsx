/** Replays of a subscription: how far they are, and ending one. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { segment } from '../../core/api.ts';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Confirm, ProblemAlert, Progress, RelativeTime, State, toast } from '../../ui/index.ts';
import { texts } from './texts.ts';

type Replay = {
  replayId: string;
  state: 'running' | 'finished' | 'cancelled';
  fromSequence: number;
  toSequence: number;
  atSequence: number;
  delivered: number;
  failed: number;
  startedAt: string;
  endedAt?: string;
};
const tones = { running: 'warn', finished: 'ok', cancelled: 'none' } as const;
/** While one runs, it is asked so often how far it is. */
const EVERY_MS = 1000;

export const replaysKey = (tenant: string, path: string) => ['replays', tenant, path];

export function Replays({ path, mayCancel }: { path: string; mayCancel: boolean }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [ending, setEnding] = useState<Replay>();
  const queryKey = replaysKey(tenant.code, path);
  const found = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<{ replays: Replay[] }>(`${path}/replays`, { query: { limit: 10 }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.data.replays.some((one) => one.state === 'running') ? EVERY_MS : false,
  });
  const replays = found.data?.data.replays ?? [];
  if (found.error) return <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />;
  if (replays.length === 0) return null;
  return (
    <section className="stack" aria-label={t.replays}>
      <h2>{t.replays}</h2>
      <ul className="plain stack">
        {replays.map((replay) => (
          <li key={replay.replayId} className="card stack">
            <div className="chips">
              <State tone={tones[replay.state]}>{t.replayStates[replay.state]}</State>
              <span>{t.replayRange(replay.fromSequence, replay.toSequence)}</span>
              <RelativeTime at={replay.endedAt ?? replay.startedAt} />
            </div>
            {replay.state === 'running' && <Running replay={replay} onCancel={mayCancel ? setEnding : undefined} />}
            <span className="dim">{t.replayCounts(replay.delivered, replay.failed)}</span>
          </li>
        ))}
      </ul>
      {ending && (
        <Confirm
          title={t.cancelReplayTitle(ending.fromSequence, ending.toSequence)}
          consequences={[t.cancelReplayWhat(ending.toSequence - ending.atSequence)]}
          action={t.cancelReplay}
          onClose={() => setEnding(undefined)}
          onConfirm={async () => {
            await api.post(`${path}/replays/${segment(ending.replayId)}/cancel`, { body: {} });
            await queryClient.invalidateQueries({ queryKey });
            toast({ text: t.replayCancelled });
          }}
        />
      )}
    </section>
  );
}

type RunningProps = { replay: Replay; onCancel: ((replay: Replay) => void) | undefined };

function Running({ replay, onCancel }: RunningProps) {
  const t = useTexts(texts);
  const { fromSequence, toSequence, atSequence } = replay;
  const total = Math.max(0, toSequence - fromSequence + 1);
  const done = Math.min(total, Math.max(0, atSequence - fromSequence + 1));
  return (
    <Progress
      label={t.replayRange(fromSequence, toSequence)}
      done={done}
      total={total}
      {...(onCancel === undefined ? {} : { onCancel: () => onCancel(replay) })}
    />
  );
}
