/**
 * What users consented to, as GET consents/me lists it, for whoever shows it to nobody but the user's own applications: it reads
 * only, invites nobody, and leaves no entry in the ledger, as a decision leaves none.
 */
import type { Transaction } from '../core/db/database.ts';
import type { Definitions, UserStatus } from '../definitions/index.ts';
import { statusOf } from './rules.ts';
import type { GivenRow } from './schema.ts';
import { readSomeOf } from './store.ts';

export type Standing = { name: string; version: string; status: UserStatus };

/** What each of the users gave; undefined for one who gave more than `most`. */
export async function readGiven(
  tx: Transaction,
  tenant: string,
  userIds: readonly string[],
  most: number,
): Promise<(GivenRow[] | undefined)[]> {
  const rows = Map.groupBy(await readSomeOf(tx, tenant, userIds, most + 1), (row) => row.n);
  return userIds.map((_, n) => {
    const given = rows.get(n) ?? [];
    return given.length > most ? undefined : given;
  });
}

/** Of each version that a user consented to, its newest consent and what that is worth at an instant (ms); newest first. */
export function standingsOf(given: readonly GivenRow[], definitions: Definitions, now: number): Standing[] {
  const newestFirst = given.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const standings = new Map<string, Standing>();
  for (const row of newestFirst) {
    const { definition: name, version } = row;
    const key = JSON.stringify([name, version]);
    if (!standings.has(key)) standings.set(key, { name, version, status: statusOf(definitions.get(name), row, now) });
  }
  return [...standings.values()];
}
