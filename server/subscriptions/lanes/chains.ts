/** Sending events side by side, and those of one key one after another. */
import type { EventRow } from '../../events/index.ts';
import type { Attempt } from './endpoint.ts';

/** `attempt`: absent where it was not sent, because one before it of its key failed, or sending was stopped. */
export type Result = { event: EventRow; attempt?: Attempt };

/**
 * What is sent in one request each: the requests of a chain go one after another.
 * @param batch one request for all of them
 */
export function chainsOf(events: readonly EventRow[], batch: boolean): EventRow[][][] {
  if (batch) return events.length === 0 ? [] : [[[...events]]];
  const chains = new Map<string, EventRow[][]>();
  for (const event of events) {
    const chain = chains.get(event.key);
    if (chain === undefined) chains.set(event.key, [[event]]);
    else chain.push([event]);
  }
  return [...chains.values()];
}

/**
 * Sends chains, as many at once as there are connections.
 * @param goesOn asked before each request, and told of each attempt by `after`; `send` answers undefined where it sent nothing
 */
export async function sendChains(
  chains: readonly EventRow[][][],
  connections: number,
  {
    send,
    goesOn,
    after,
  }: {
    send(events: readonly EventRow[]): Promise<Attempt | undefined>;
    goesOn(): boolean;
    after(attempt: Attempt): void;
  },
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = chains[Symbol.iterator]();
  const work = async () => {
    // The iterator is shared: each chain is taken once.
    for (const chain of waiting) {
      let failed = false;
      for (const events of chain) {
        if (failed || !goesOn()) {
          results.push(...events.map((event) => ({ event })));
          continue;
        }
        const attempt = await send(events);
        if (attempt !== undefined) after(attempt);
        failed = !attempt?.ok;
        results.push(...events.map((event) => ({ event, ...(attempt === undefined ? {} : { attempt }) })));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(connections, chains.length) }, work));
  return results.sort((a, b) => a.event.sequence - b.event.sequence);
}
