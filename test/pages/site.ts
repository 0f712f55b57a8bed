/** Serves the sample pages with their headers, the assets as the product serves them, and takes what forms post. */
import Fastify from 'fastify';
import type { App } from '../../server/http/fastify.ts';
import { languageOf, redirectPage, registerAssets, sendPage } from '../../server/pages/index.ts';
import { contextOf } from './sample-context.ts';
import { samples } from './samples.ts';

export type Posted = { path: string; fields: Record<string, string> };

/** @param leadTo where a post to /send leads: by the page that leads on, from which it may go further */
export async function servePages(leadTo?: () => string) {
  const posted: Posted[] = [];
  // A browser opens connections that it may not use, for which a close would wait.
  const app = Fastify({ forceCloseConnections: true }) as unknown as App;
  registerAssets(app);
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
  app.get<{ Params: { language: string; name: string } }>('/:language/:name', async ({ params }, reply) => {
    const sample = samples[params.name];
    if (sample === undefined) return reply.status(404).send();
    return sendPage(reply, sample(languageOf(params.language) ?? 'en'));
  });
  app.post('/*', async (request, reply) => {
    posted.push({ path: request.url, fields: request.body as Record<string, string> });
    if (leadTo !== undefined) return sendPage(reply, redirectPage(contextOf('en'), leadTo()));
    return reply.type('text/html').send('<title>Posted</title>');
  });
  const base = await app.listen({ port: 0, host: '127.0.0.1' });
  // Passkeys are for names: an address has none (https://www.w3.org/TR/webauthn-3/#relying-party-identifier).
  return { base, named: base.replace('127.0.0.1', 'localhost'), posted, close: () => app.close() };
}
