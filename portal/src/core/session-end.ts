/** Whether the session has ended while the page is open: the shell shows it over the page, and nothing that was typed is lost. */
import { type Dispatch, type SetStateAction, useState, useSyncExternalStore } from 'react';

let endedAt: number | undefined;
let isMember = true;
const listeners = new Set<() => void>();

function become(at: number | undefined): void {
  endedAt = at;
  if (at === undefined) isMember = true;
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}

export function sessionEnded(): void {
  if (endedAt === undefined) become(Date.now());
}

/** It has because the person was removed from the tenant. */
export function membershipEnded(): void {
  isMember = false;
  tell();
}

/** The same person has logged in again, in another tab. */
export const sessionResumed = (): void => become(undefined);

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Whether the person is a member of the tenant still. */
export const useIsMember = () => useSyncExternalStore(subscribe, () => isMember);

/** A record that is open on the page, while the person may see it. */
export function useRecord<T>(): readonly [T | undefined, Dispatch<SetStateAction<T | undefined>>] {
  const maySee = useIsMember();
  const [record, open] = useState<T>();
  return [maySee ? record : undefined, open];
}

/** When it ended, ms. */
export const useSessionEnded = () => useSyncExternalStore(subscribe, () => endedAt);
