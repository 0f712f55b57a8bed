/**
 * With --wait, a database that is not there yet or not migrated yet is no failure for so many seconds. Whoever starts all
 * parts at once (a chart) need not order them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../server/core/config.ts';
import { SchemaBehind, SchemaMismatch } from '../server/core/db/migrate.ts';
import { MasterKeyError } from '../server/core/encrypter.ts';
import { UsageError } from './arguments.ts';

const RETRY_MS = 1000;
const SECONDS_MAX = 86_400;

/** --wait in milliseconds; 0 without it. @throws UsageError */
export function waitOf(values: Record<string, string | undefined>): number {
  const text = values.wait ?? '0';
  if (!/^\d{1,5}$/.test(text) || Number(text) > SECONDS_MAX) {
    throw new UsageError(`accord: --wait takes whole seconds up to ${SECONDS_MAX}, not ${text}`);
  }
  return Number(text) * 1000;
}

/**
 * Does the work, again each second until `forMs` have passed, saying on stderr what it waits for whenever that changes.
 * @param options.stopped a signal came: the wait ends
 * @param options.told why each try failed
 * @returns what the work returned; undefined when stopped
 * @throws the work's last error, and at once what no waiting mends
 */
export async function patiently<T>(
  work: () => Promise<T>,
  { forMs, stopped, told }: { forMs: number; stopped: Promise<unknown>; told?: (why: string) => void },
): Promise<T | undefined> {
  const until = performance.now() + forMs;
  let said = '';
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isLasting(error) || performance.now() + RETRY_MS > until) throw error;
      const why = reasonOf(error);
      if (why !== said) console.error(`accord: waiting for the database: ${why}`);
      said = why;
      told?.(why);
    }
    const cancel = new AbortController();
    const again = sleep(RETRY_MS, true, { signal: cancel.signal }).catch(() => false);
    if (!(await Promise.race([again, stopped.then(() => false)]))) {
      cancel.abort();
      return undefined;
    }
  }
}

function isLasting(error: unknown): boolean {
  if (error instanceof ConfigError || error instanceof UsageError || error instanceof MasterKeyError) {
    return true;
  }
  return error instanceof SchemaMismatch && !(error instanceof SchemaBehind);
}

/** A name with several addresses fails with one error for each, and no message of its own. */
function reasonOf(error: unknown): string {
  const { message, errors } = error as AggregateError;
  return message || (errors ?? []).map((one: Error) => one.message).join('; ');
}
