/** `accord operate`: the operator alone, on a Postgres that was migrated; servers run elsewhere. */
import { resolve } from 'node:path';
import { FileSource, startOperator, wireRooms } from '../operator/index.ts';
import { readConfig, requireVariable } from '../server/core/config.ts';
import { assertSchema } from '../server/core/db/migrate.ts';
import { createServices } from '../server/services.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { reportChanges } from './report.ts';
import { untilStopped } from './stop.ts';

export async function run({ values }: Parsed): Promise<number> {
  const { source: kind, manifests, data } = values;
  if (kind !== 'files' || manifests === undefined) {
    throw new UsageError(
      `accord operate: --source is files, and --manifests names their directory\nusage: ${commands.operate.usage}`,
    );
  }
  const stopped = untilStopped();
  const config = readConfig();
  await assertSchema(requireVariable(config, 'ACCORD_DATABASE_URL', 'accord operate'));
  const services = await createServices(config, { applicationName: 'operate' });
  const { clock, observe } = services;
  const source = new FileSource({
    directory: manifests,
    statusDirectory: resolve(data as string, 'status'),
    clock,
    observe,
  });
  const operator = startOperator({
    source,
    rooms: wireRooms(services),
    ...services,
    maxStalenessMs: config.ACCORD_MAX_STALENESS * 1000,
    onStatus: reportChanges(() => true),
    onWaiting: (message) => console.log(message),
  });
  await stopped;
  await operator.close();
  await services.close();
  return 0;
}
