import { statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
/** A run needs about 2 GB. Docker gives 64 MB unless it is told. */
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

/** A folder in memory with room for what a run of the tests writes; undefined where there is none. */
export function placeInMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : undefined;
  } catch {
    return undefined;
  }
}
