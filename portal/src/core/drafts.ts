/**
 * What somebody types is kept in this browser until it is saved, or the person logs out: it outlives a closed tab, an ended session and a
 * server that is away. Others who log in here have drafts of their own.
 */
import { useCallback, useContext, useEffect, useRef, useState } from 'react';
import { notStored } from './api.ts';
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

/** What this browser has of a name, for one that is chosen while the page is open. */
export function useReadDraft() {
  const email = useContext(PersonContext);
  return (name: string) => read(ofPerson(email) + name)?.value;
}

/** Keeps a draft of what is not stored yet, at once: for a page that is opened with it. */
export function useKeepNew() {
  const email = useContext(PersonContext);
  return (name: string, value: unknown) => store(ofPerson(email) + name, keptOf(value, notStored));
}

/** At a log-out. The page is left then: what was typed last is not kept after it. */
export function dropDrafts(email: string): void {
  isLoggedOut = true;
  const own = Object.keys(localStorage).filter((key) => key.startsWith(prefix + ofPerson(email)));
  for (const key of own) localStorage.removeItem(key);
}

const keptOf = <T>(value: T, basedOn: string | undefined): Kept<T> => ({
  ...{ at: Date.now(), value },
  ...(basedOn === undefined ? {} : { basedOn }),
});

/**
 * @param name names the thing, with its tenant: `carshare/policy/car-drive`
 * @param basedOn the ETag of what is stored (`notStored`: nothing is). A draft stays based on the one that it was begun with: while that
 *   is another (`isOld`) it is not saved, and the person decides between both by `rebase` or `drop`.
 */
export function useDraft<T>(name: string, basedOn?: string) {
  const key = useOwnKey(name);
  const [kept, setKept] = useState(() => read<T>(key));
  const latest = useRef(kept);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pending = useRef<() => void>(undefined);
  const show = useCallback((next: Kept<T> | undefined) => {
    latest.current = next;
    setKept(next);
  }, []);
  const flush = useCallback(() => {
    clearTimeout(timer.current);
    pending.current?.();
    pending.current = undefined;
  }, []);
  useEffect(() => {
    show(read<T>(key));
    addEventListener('pagehide', flush);
    return () => {
      flush();
      removeEventListener('pagehide', flush);
    };
  }, [key, flush, show]);
  const put = useCallback(
    (next: Kept<T>) => {
      show(next);
      clearTimeout(timer.current);
      pending.current = () => store(key, next);
      timer.current = setTimeout(flush, 300);
    },
    [key, flush, show],
  );
  const keep = useCallback(
    (value: T) => put(keptOf(value, latest.current === undefined ? basedOn : latest.current.basedOn)),
    [basedOn, put],
  );
  const rebase = useCallback((value: T) => put(keptOf(value, basedOn)), [basedOn, put]);
  const drop = useCallback(() => {
    clearTimeout(timer.current);
    pending.current = undefined;
    localStorage.removeItem(prefix + key);
    show(undefined);
  }, [key, show]);
  /**
   * `draft`, as it was sent, is stored with this ETag. What was typed since stays, as a change of it.
   * @param adapt what was typed since, where it holds what it is a change of
   * @returns what was typed since
   */
  const saved = useCallback(
    (draft: T | undefined, etag?: string, adapt = (typed: T) => typed): T | undefined => {
      if (latest.current === undefined || latest.current.value === draft) return void drop();
      const typed = adapt(latest.current.value);
      put(keptOf(typed, etag));
      return typed;
    },
    [drop, put],
  );
  const isOld = kept !== undefined && kept.basedOn !== basedOn;
  const at = kept === undefined ? undefined : new Date(kept.at);
  return { draft: kept?.value, at, isOld, keep, rebase, drop, saved };
}

function store(key: string, kept: unknown): void {
  if (isLoggedOut) return;
  try {
    localStorage.setItem(prefix + key, JSON.stringify(kept));
  } catch {
    // The browser keeps no more. What is typed is still on the page.
  }
}
