/** `accord serve`: the APIs, on a Postgres that was migrated. */
import { readConfig, requireVariable } from '../server/core/config.ts';
import { assertSchema } from '../server/core/db/migrate.ts';
import { startServer } from '../server/main.ts';
import { createServices } from '../server/services.ts';
import type { Parsed } from './arguments.ts';
import { withListeners } from './listeners.ts';
import { untilStopped } from './stop.ts';
import { patiently, waitOf } from './wait.ts';

export async function run({ values }: Parsed): Promise<number> {
  const config = withListeners(readConfig(), values);
  const url = requireVariable(config, 'ACCORD_DATABASE_URL', 'accord serve');
  const forMs = waitOf(values);
  const stopped = untilStopped();
  if (!(await patiently(() => assertSchema(url).then(() => true), { forMs, stopped }))) return 0;
  const services = await createServices(config, { applicationName: 'serve' });
  const server = await startServer(config, services);
  console.log(`Serving ${services.baseUrl} on ${server.url}; admin on ${server.adminUrl}`);
  await stopped;
  await server.close();
  await services.close();
  return 0;
}
