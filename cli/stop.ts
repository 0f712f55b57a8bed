/**
 * The first signal stops the process in order (it ends with 0), a later one at once (with 128 plus the
 * signal's number).
 */
import { constants } from 'node:os';

/** A terminal sends Ctrl-C to us and to the wrapper that started us, which passes it on: these two are one. */
const SAME_SIGNAL_MS = 500;

/** Resolves with the first SIGINT, SIGTERM or SIGHUP. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stoppingSince: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        const now = performance.now();
        stoppingSince ??= now;
        if (now - stoppingSince > SAME_SIGNAL_MS) process.exit(128 + constants.signals[signal]);
        resolve(signal);
      });
    }
  });
}
