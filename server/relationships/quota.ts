/** limits.maxRelationships of a Tenant: how many more relationships it may have. Rows count until they are deleted. */
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { relationshipProblem } from './problems.ts';
import type { Relationship } from './schema.ts';
import { type Line, linesToAdd, lockQuota, readQuota } from './store.ts';

/**
 * How many rows the transaction may add; undefined where the Tenant sets no limit. Near the limit the others wait until this
 * transaction ends, so that together they do not pass it; far from the limit there is no lock. To be asked once, behind all locks but
 * those on relationships themselves.
 */
async function roomLeft(tx: Transaction, tenant: string): Promise<number | undefined> {
  const { most, count } = await readQuota(tx, tenant);
  if (most === null || count === null) return undefined;
  if (most - count > limits.relationshipQuotaMarginItems) return most - count;
  await lockQuota(tx, tenant);
  const quota = await readQuota(tx, tenant);
  return quota.most === null || quota.count === null ? undefined : Math.max(0, quota.most - quota.count);
}

/** @throws Problem relationship_quota_reached unless there is room for the relationship, or it is there already */
export async function checkRoom(tx: Transaction, tenant: string, relationship: Relationship): Promise<void> {
  if ((await roomLeft(tx, tenant)) !== 0) return;
  if ((await linesToAdd(tx, tenant, [{ ...relationship, line: 1 }])).length === 0) return;
  throw relationshipProblem('relationship_quota_reached');
}

/** The lines, each of another relationship, that there is no room for: the last ones. */
export async function linesWithoutRoom(tx: Transaction, tenant: string, lines: readonly Line[]): Promise<Set<number>> {
  const left = await roomLeft(tx, tenant);
  if (left === undefined || left >= lines.length) return new Set();
  return new Set((await linesToAdd(tx, tenant, lines)).slice(left));
}
