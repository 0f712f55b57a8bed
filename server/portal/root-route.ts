/** {base}/ itself: a person who types the address gets to the portal. It is no address of the API, which clients are told as before. */
import Negotiator from 'negotiator';
import { problem } from '../core/problems.ts';
import type { App } from '../http/fastify.ts';

export function registerRoot(app: App, { baseUrl }: { baseUrl: string }): void {
  app.route({
    method: 'GET',
    url: '/',
    config: { access: { api: 'public' } },
    schema: { hide: true },
    handler: async (request, reply) => {
      reply.header('vary', 'accept');
      const accept = request.headers.accept ?? '*/*';
      // Where both are as welcome, it is no browser that asks.
      const types = ['application/problem+json', 'application/json', 'text/html'];
      if (new Negotiator({ headers: { accept } }).mediaType(types) !== 'text/html') throw problem('not_found');
      return reply.redirect(`${baseUrl}/portal`, 303);
    },
  });
}
