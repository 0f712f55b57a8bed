/** Removing what has expired, of all tenants: links, challenges, and attempts that are forgotten. */
import type { Database } from '../core/db/database.ts';
import { removeForgotten } from './attempt-store.ts';
import { removeExpiredChallenges } from './credential-store.ts';
import { removeExpiredTokens } from './store.ts';

/** @param at `forget`: attempts since when are still counted @returns how many of the kind of which there were most */
export async function sweepAccounts(database: Database, at: { now: string; forget: string }): Promise<number> {
  const removed = await database.system((tx) =>
    Promise.all([removeExpiredTokens(tx, at.now), removeExpiredChallenges(tx, at.now), removeForgotten(tx, at.forget)]),
  );
  return Math.max(...removed);
}
