/** A process for lock.test.ts: takes a data directory so many times, beside the claim of a process that is gone each time. */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InUse, lockDirectory } from '../../cli/lock.ts';

const [directory = '', rounds = '0', gone = ''] = process.argv.slice(2);
const held = join(directory, 'held');
let [taken, overlaps] = [0, 0];
while (taken < Number(rounds)) {
  await writeFile(join(directory, `accord.${gone}.${randomUUID()}.lock`), '');
  const release = await lockDirectory(directory).catch((error: unknown) => {
    if (error instanceof InUse) return undefined;
    throw error;
  });
  if (release === undefined) continue;
  taken++;
  // Who holds the directory is alone in making this file.
  const alone = await writeFile(held, '', { flag: 'wx' }).then(
    () => true,
    () => false,
  );
  if (!alone) overlaps++;
  await sleep(1); // the others meet it while it is held
  if (alone) await rm(held);
  await release();
}
process.stdout.write(JSON.stringify({ taken, overlaps }));
