/** Polls of conditions that others change: one after the other, however often leadership is lost and won. */
import { expect, test, vi } from 'vitest';
import { ConditionPoll } from '../../operator/condition-poll.ts';
import { turns, untilPasses } from '../helpers/wait.ts';

test('a stop and a start while a poll is under way leave one poll to come', async () => {
  const timers = new Set<() => void>();
  const failed = vi.fn();
  const polls = new ConditionPoll({
    kind: 'TrustedIssuer',
    read: () => Promise.reject(new Error('the database is away')),
    pollMs: 1000,
    timers: {
      monotonic: () => 0,
      after(_ms, call) {
        timers.add(call);
        return () => timers.delete(call);
      },
    },
    observe: failed,
    changed: () => {},
  });
  try {
    polls.start();
    for (let times = 1; times <= 3; times++) {
      expect(timers.size).toBe(1);
      const [poll] = timers;
      timers.delete(poll as () => void);
      poll?.();
      polls.stop();
      polls.start();
      await untilPasses('the poll that fails', () => expect(failed).toHaveBeenCalledTimes(times));
      await turns();
    }
    expect(timers.size).toBe(1);
    polls.stop();
    expect(timers.size).toBe(0);
  } finally {
    await polls.close();
  }
});
