/** What a Postgres that was killed leaves in /dev/shm, outside of any folder of ours: its next start removes it. */
import { startPostgres } from '../../server/embedded/postgres.ts';

/** @param directory of a cluster that does not run */
export async function removeShared(directory: string): Promise<void> {
  await (await startPostgres(directory, { durable: false })).stop();
}
