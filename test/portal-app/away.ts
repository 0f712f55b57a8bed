/** A server that goes away and comes back at the same address, without losing what it knows. */
import { once } from 'node:events';
import type { TestServer } from '../helpers/server.ts';

/** @returns lets it come back */
export async function goAway({ app }: TestServer, base: string): Promise<() => Promise<void>> {
  const closed = once(app.server, 'close');
  app.server.close();
  app.server.closeAllConnections();
  await closed;
  const { hostname, port } = new URL(base);
  return async () => {
    app.server.listen(Number(port), hostname);
    await once(app.server, 'listening');
  };
}
