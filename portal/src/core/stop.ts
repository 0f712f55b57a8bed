/** Ends what the page waits for once it is left. */
import { useCallback, useEffect, useRef } from 'react';

/** @returns the signal of the page as it is now */
export function useStop(): () => AbortSignal {
  const stop = useRef(new AbortController());
  useEffect(() => {
    stop.current = new AbortController();
    return () => stop.current.abort();
  }, []);
  return useCallback(() => stop.current.signal, []);
}
