/** What an embedded Postgres leaves in files: which process it is, and the shared memory of one that was killed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '../../server/embedded/postgres.ts';

/** Of the server that runs in a cluster, or did last. */
export async function postmasterPid(directory: string): Promise<number> {
  return Number((await readFile(join(directory, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);
}

/**
 * Postgres keeps it in /dev/shm, outside of any folder of ours: its next start removes it.
 * @param directory of a cluster that does not run
 */
export async function removeShared(directory: string): Promise<void> {
  await (await startPostgres(directory, { durable: false })).stop();
}
