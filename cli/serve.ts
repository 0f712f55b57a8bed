/** `accord serve`: the APIs, on a Postgres that was migrated. */
import { readConfig, requireVariable } from '../server/core/config.ts';
import { assertSchema } from '../server/core/db/migrate.ts';
import { startServer } from '../server/main.ts';
import { createServices } from '../server/services.ts';
import type { Parsed } from './arguments.ts';
import { withListeners } from './listeners.ts';
import { untilStopped } from './stop.ts';

export async function run(parsed: Parsed): Promise<number> {
  const config = withListeners(readConfig(), parsed.values);
  await assertSchema(requireVariable(config, 'ACCORD_DATABASE_URL', 'accord serve'));
  const services = await createServices(config, { applicationName: 'serve' });
  const server = await startServer(config, services);
  console.log(`Serving ${services.baseUrl} on ${server.url}; admin on ${server.adminUrl}`);
  await untilStopped();
  await server.close();
  await services.close();
  return 0;
}
