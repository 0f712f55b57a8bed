/**
 * Telling what happened to a chain, pure: where the next entry should be, what is there instead. The verdict that a
 * chain is bad is verify.ts's; what is said here of how it came about is the likeliest reading of the hashes that remain.
 */
import { chained } from './digest.ts';

/**
 * changed: its fields are others. missing: there is none of this number, or the entry before it is gone and the later
 * ones were renumbered. inserted: it was never sealed here. reordered: it belongs elsewhere. cut: everything from here
 * on is gone. rewritten: a checkpoint signed something else for this and the entries after it. unsigned: no checkpoint
 * speaks of this entry, or the one that does is signed by no key of the tenant.
 */
export const ledgerProblems = ['changed', 'missing', 'inserted', 'reordered', 'cut', 'rewritten', 'unsigned'] as const;
type LedgerProblem = (typeof ledgerProblems)[number];

/** A stored entry: what the row says of its place, and the leaf that its fields have now. */
export type Placed = { sequence: number; id: string; hash: string; leaf: string };

export type FirstBad = { sequence: number; id?: string; problem: LedgerProblem };

/**
 * @param before the chain's hash up to the entry before
 * @param sequence the number of the entry that is not as it should be
 * @param rows stored entries from that number on, by number: the more, the farther a moved entry is found
 * @param anchored whether the next checkpoint's hash stands at the checkpoint's number, as it does unless entries moved
 */
export function diagnose(before: string, sequence: number, rows: readonly Placed[], anchored: boolean): FirstBad {
  const [found] = rows;
  if (found === undefined) return { sequence, problem: 'cut' };
  const follows = (row: Placed) => chained(before, row.leaf);
  const rightful = rows.find((row) => follows(row) === row.hash);
  if (found.sequence !== sequence) {
    // A gap. The entry may stand farther on, with the hash that it was sealed with.
    return rightful === undefined || rightful === found
      ? { sequence, problem: 'missing' }
      : { sequence, id: rightful.id, problem: 'reordered' };
  }
  const twin = rows.find((row) => row !== found && row.sequence === sequence);
  if (twin !== undefined) return { sequence, id: rightful === found ? twin.id : found.id, problem: 'inserted' };
  // Hashes that stayed while what they are of changed places.
  if (rows.some((row) => row !== found && follows(row) === found.hash)) {
    return { sequence, id: found.id, problem: 'reordered' };
  }
  if (rightful !== undefined) {
    const elsewhere = rows.some((row) => row !== found && chained(row.hash, found.leaf) === found.hash);
    return { sequence, id: found.id, problem: elsewhere ? 'reordered' : 'inserted' };
  }
  return { sequence, id: found.id, problem: anchored ? 'changed' : 'missing' };
}
