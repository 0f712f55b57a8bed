/** `accord migrate`: brings the schema up to this version; many at once are fine, a second run does nothing. */
import { readConfig, requireVariable } from '../server/core/config.ts';
import { migrate, roleOf } from '../server/core/db/migrate.ts';
import type { Parsed } from './arguments.ts';
import { createProgress } from './output.ts';
import { untilStopped } from './stop.ts';
import { patiently, waitOf } from './wait.ts';

export async function run({ values }: Parsed): Promise<number> {
  const config = readConfig();
  const url = requireVariable(config, 'ACCORD_MIGRATION_URL', 'accord migrate');
  const runtimeUrl = requireVariable(config, 'ACCORD_DATABASE_URL', 'accord migrate (its role is given access)');
  const runtimeRole = roleOf(runtimeUrl);
  const forMs = waitOf(values);
  const progress = createProgress();
  const once = () =>
    migrate(url, {
      runtimeRole,
      observe: (observation) => observation.kind === 'migrated' && progress.step(observation.name),
    });
  const applied = await patiently(once, { forMs, stopped: untilStopped() });
  progress.done();
  if (applied === undefined) return 1;
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
  return 0;
}
