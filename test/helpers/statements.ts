/**
 * The statements of all stores, without a list of them: each function that a store exports is called with values that are anything,
 * and with as little as it takes, on a transaction that only notes what it is asked.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Transaction } from '../../server/core/db/transaction.ts';
import { turns } from './wait.ts';

const root = join(import.meta.dirname, '../../server');

/** Has every property, may be called, and is the text 1. */
const anything: unknown = new Proxy(() => {}, {
  get(_, name) {
    if (name === 'then') return undefined;
    if (name === 'limit') return 100;
    if (name === Symbol.iterator) return [][Symbol.iterator];
    return name === Symbol.toPrimitive ? () => '1' : anything;
  },
  apply: () => anything,
});
const NOW = new Date(0).toISOString();
const something: readonly unknown[] = [anything, anything, anything, anything, anything];
const little: readonly unknown[] = [{}, {}, {}, {}, {}];

export const storeFiles = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(^|[/-])store\.ts$/.test(file) || file.startsWith('core/db/'))
  .map((file) => join(root, file));

/** Texts of statements by their functions. */
export async function statementsOfStores(): Promise<Map<string, Set<string>>> {
  const all = new Map<string, Set<string>>();
  for (const file of storeFiles.filter((one) => one.endsWith('store.ts'))) {
    for (const [name, value] of Object.entries((await import(file)) as Record<string, unknown>)) {
      if (typeof value !== 'function' || /^[A-Z]/.test(name)) continue;
      const texts = new Set<string>();
      const note = new Transaction(async ({ text }) => {
        texts.add(text);
        return { rows: [], rowCount: 0 };
      });
      // What waits for something else than Postgres has sent what it sends.
      for (const rest of [
        something,
        little,
        [NOW, ...little],
        [NOW, 100],
        [{}, 100],
        ['ending', NOW],
        ['expired', NOW],
      ])
        for (const given of [
          [note, 't1', ...rest],
          [note, ...rest],
          [anything, note, ...rest],
        ])
          await Promise.race([tried(value as Called, given), turns()]);
      all.set(`${file.slice(root.length + 1)} ${name}`, texts);
    }
  }
  return all;
}

type Called = (...given: unknown[]) => unknown;

/** Many fail by what they get, behind what they have asked. */
async function tried(call: Called, given: readonly unknown[]): Promise<void> {
  try {
    await call(...given);
  } catch {}
}
