/** The polls of issuers' keys: one after the other, however often leadership is lost and won. */
import { expect, test, vi } from 'vitest';
import { IssuerKeys } from '../../operator/issuer-keys.ts';
import { Database } from '../../server/core/db/database.ts';

test('a stop and a start while a poll is under way leave one poll to come', async () => {
  const timers = new Set<() => void>();
  const failed = vi.fn();
  // Nothing listens there: each poll ends with an error.
  const url = 'postgresql://accord@127.0.0.1:1/accord';
  const database = new Database({ url, poolMax: 1, applicationName: 'test', observe: () => {} });
  const keys = new IssuerKeys({
    database,
    maxStalenessMs: 1000,
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
    keys.start();
    for (let polls = 1; polls <= 3; polls++) {
      expect(timers.size).toBe(1);
      const [poll] = timers;
      timers.delete(poll as () => void);
      poll?.();
      keys.stop();
      keys.start();
      await vi.waitFor(() => expect(failed).toHaveBeenCalledTimes(polls));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(timers.size).toBe(1);
    keys.stop();
    expect(timers.size).toBe(0);
  } finally {
    await keys.close();
    await database.close();
  }
});
