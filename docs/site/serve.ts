/** Serves the built site as a server does, with the same headers, and the icon that browsers ask for. */
import Fastify from 'fastify';
import type { App } from '../../server/http/fastify.ts';
import { guideFolder, registerGuide } from '../../server/http/guide.ts';
import { guideAddress } from '../../server/http/guide-address.ts';
import { registerAssets } from '../../server/pages/index.ts';

/** @param listen HOST:PORT @returns the address of the site, and what ends it */
export async function serve(listen: string): Promise<{ address: string; close(): Promise<void> }> {
  const app = Fastify() as unknown as App;
  if (!(await registerGuide(app))) throw new Error(`${guideFolder} is not there: npm run docs`);
  registerAssets(app);
  app.get('/', async (_, reply) => reply.redirect(guideAddress));
  const colon = listen.lastIndexOf(':');
  await app.listen({ host: listen.slice(0, colon), port: Number(listen.slice(colon + 1)) });
  const close = async () => {
    app.server.closeAllConnections();
    await app.close();
  };
  return { address: `http://${listen}${guideAddress}`, close };
}
