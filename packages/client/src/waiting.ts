/** Time: waiting, deadlines, and when a request may be sent again. */
import { AccordNetworkError, AccordResponseError, AccordTimeoutError, AccordTokenError } from './errors.ts';

/** Instants that only go forward, in milliseconds. */
export const monotonic = () => performance.now();

/** @throws the reason of the signal, at once when it is aborted */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    if (signal?.aborted) return failed(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      failed(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Does some work of a request within a time.
 * @param what the name of the request, for the error
 * @throws AccordTimeoutError when the time is over; AccordNetworkError for what else fails; the reason of the caller's signal
 */
export async function within<Result>(
  what: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const stop = () => controller.abort();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    controller.abort();
  }, timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await work(controller.signal);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (late) throw new AccordTimeoutError(`${what} was not answered within ${timeoutMs} ms`, { cause });
    throw new AccordNetworkError(`${what} failed: ${reasonOf(cause)}`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** fetch says "fetch failed" and why in its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  return cause?.code ?? (cause?.message || message || String(error));
}

/** How long a server may ask to wait before the error is given to the caller instead. */
const LONGEST_WAIT_MS = 30_000;
const FIRST_WAIT_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;

const isPassing = (status: number) => status === 429 || status === 503;

/**
 * @param error of an attempt at a request that may be sent twice
 * @param attempt how many there were, from 1
 * @returns milliseconds until the next attempt; undefined when there is none
 */
export function waitBefore(error: unknown, attempt: number): number | undefined {
  const backoff = Math.random() * Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_BACKOFF_MS);
  if (error instanceof AccordNetworkError || error instanceof AccordTimeoutError) return backoff;
  if (error instanceof AccordTokenError) return isPassing(error.status ?? 503) ? backoff : undefined;
  if (!(error instanceof AccordResponseError)) return undefined;
  // The first attempt is still under way, though its answer did not come.
  const again = isPassing(error.status) || error.code === 'idempotency_key_in_use';
  if (!again) return undefined;
  const asked = error.retryAfterMs;
  if (asked !== undefined && asked > LONGEST_WAIT_MS) return undefined;
  return (asked ?? 0) + backoff;
}
