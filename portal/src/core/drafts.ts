/**
 * What somebody types is kept in this browser until it is saved, or the person logs out: it outlives a closed tab, an ended session and a
 * server that is away. Others who log in here have drafts of their own.
 */
import { useCallback, useContext, useEffect, useRef, useState } from 'react';
import { PersonContext } from './session.ts';

const prefix = 'accord.draft.';
let isLoggedOut = false;
type Kept<T> = { at: number; basedOn?: string; value: T };

function read<T>(key: string): Kept<T> | undefined {
  try {
    const text = localStorage.getItem(prefix + key);
    return text === null ? undefined : (JSON.parse(text) as Kept<T>);
  } catch {
    return undefined; // not ours, or of an older version
  }
}

const ofPerson = (email: string) => `${encodeURIComponent(email)}/`;
const useOwnKey = (name: string) => ofPerson(useContext(PersonContext)) + name;

export const useHasDraft = (name: string) => read(useOwnKey(name)) !== undefined;

/** At a log-out. The page is left then: what was typed last is not kept after it. */
export function dropDrafts(email: string): void {
  isLoggedOut = true;
  const own = Object.keys(localStorage).filter((key) => key.startsWith(prefix + ofPerson(email)));
  for (const key of own) localStorage.removeItem(key);
}

/**
 * @param name names the thing, with its tenant: `carshare/policy/car-drive`
 * @param basedOn the ETag of what was being changed. A draft of another one is given back as it is, with `isOld`: ask before it is used.
 */
export function useDraft<T>(name: string, basedOn?: string) {
  const key = useOwnKey(name);
  const [kept, setKept] = useState(() => read<T>(key));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pending = useRef<() => void>(undefined);
  const flush = useCallback(() => {
    clearTimeout(timer.current);
    pending.current?.();
    pending.current = undefined;
  }, []);
  useEffect(() => {
    setKept(read<T>(key));
    addEventListener('pagehide', flush);
    return () => {
      flush();
      removeEventListener('pagehide', flush);
    };
  }, [key, flush]);
  const keep = useCallback(
    (value: T) => {
      const next: Kept<T> = { at: Date.now(), ...(basedOn === undefined ? {} : { basedOn }), value };
      setKept(next);
      clearTimeout(timer.current);
      pending.current = () => store(key, next);
      timer.current = setTimeout(flush, 300);
    },
    [key, basedOn, flush],
  );
  const drop = useCallback(() => {
    clearTimeout(timer.current);
    pending.current = undefined;
    localStorage.removeItem(prefix + key);
    setKept(undefined);
  }, [key]);
  const isOld = kept !== undefined && basedOn !== undefined && kept.basedOn !== undefined && kept.basedOn !== basedOn;
  return { draft: kept?.value, at: kept === undefined ? undefined : new Date(kept.at), isOld, keep, drop };
}

function store(key: string, kept: unknown): void {
  if (isLoggedOut) return;
  try {
    localStorage.setItem(prefix + key, JSON.stringify(kept));
  } catch {
    // The browser keeps no more. What is typed is still on the page.
  }
}
