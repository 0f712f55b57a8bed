/**
 * Acquires a term: from the moment that this is committed, nothing that began under an earlier term is written any
 * more. An epoch only grows, also when the Lease it comes from is deleted, and a term belongs to one cluster.
 */
import type { Database } from '../server/core/db/database.ts';
import { limits } from '../server/core/limits.ts';
import { endTransactions, lockTerms, readTerm, type TermRow, writeTerm } from './term-store.ts';

type TermRequest = TermRow & {
  /** Take over what another cluster's manifests own (--adopt-cluster). */
  adopt: boolean;
};

/** The rows of this source belong to another cluster's manifests. */
export class OtherCluster extends Error {
  constructor(stored: string, own: string) {
    super(
      `This database has the objects of another cluster (its kube-system namespace has the uid ${stored}, ` +
        `this cluster's has ${own}). Nothing was changed. Check the kubeconfig. If this cluster replaces the ` +
        `other one, start once with --adopt-cluster.`,
    );
  }
}

/** Somebody acquired this epoch or a later one. */
export class TermTaken extends Error {}

/**
 * The lowest epoch that may be acquired now.
 * @throws OtherCluster
 */
export async function nextEpoch(
  database: Database,
  source: string,
  of: Pick<TermRequest, 'cluster' | 'adopt'>,
): Promise<number> {
  const stored = await database.system((tx) => readTerm(tx, source));
  if (stored !== undefined) assertCluster(stored, of);
  return (stored?.epoch ?? 0) + 1;
}

/**
 * Makes the epoch the term of a source. Transactions of the term before end first: those that do not within
 * `limits.termAcquireWaitMs` lose their connections.
 * @throws TermTaken, OtherCluster
 */
export async function acquireTerm(database: Database, source: string, request: TermRequest): Promise<void> {
  try {
    await acquireOnce(database, source, request);
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
    await database.system((tx) => endTransactions(tx, source));
    await acquireOnce(database, source, request);
  }
}

const LOCK_NOT_AVAILABLE = '55P03';

function acquireOnce(database: Database, source: string, request: TermRequest): Promise<void> {
  const { epoch, holder, cluster } = request;
  return database.system(async (tx) => {
    await lockTerms(tx, source, limits.termAcquireWaitMs);
    const stored = await readTerm(tx, source);
    if (stored !== undefined) assertCluster(stored, request);
    if (stored !== undefined && stored.epoch >= epoch) {
      throw new TermTaken(`term ${epoch} over ${source} comes too late: ${stored.holder} has acquired ${stored.epoch}`);
    }
    await writeTerm(tx, source, { epoch, holder, cluster });
  });
}

function assertCluster(stored: TermRow, { cluster, adopt }: Pick<TermRequest, 'cluster' | 'adopt'>): void {
  if (stored.cluster !== cluster && !adopt) throw new OtherCluster(stored.cluster, cluster);
}
