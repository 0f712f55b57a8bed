/** Whether the session has ended while the page is open: the shell shows it over the page, and nothing that was typed is lost. */
import { useSyncExternalStore } from 'react';

let ended = false;
const listeners = new Set<() => void>();

export function sessionEnded(): void {
  if (ended) return;
  ended = true;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSessionEnded = () => useSyncExternalStore(subscribe, () => ended);
