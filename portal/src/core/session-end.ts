/** Whether the session has ended while the page is open: the shell shows it over the page, and nothing that was typed is lost. */
import { useSyncExternalStore } from 'react';

let endedAt: number | undefined;
const listeners = new Set<() => void>();

function become(at: number | undefined): void {
  endedAt = at;
  for (const listener of listeners) listener();
}

export function sessionEnded(): void {
  if (endedAt === undefined) become(Date.now());
}

/** The same person has logged in again, in another tab. */
export const sessionResumed = (): void => become(undefined);

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** When it ended, ms. */
export const useSessionEnded = () => useSyncExternalStore(subscribe, () => endedAt);
