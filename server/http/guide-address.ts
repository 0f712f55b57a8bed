/** Where the documentation is, and what its pages may load: of the site and of the pages as they are written. */
import helmet from '@fastify/helmet';
import type { App } from './fastify.ts';

export const guideAddress = '/docs/guide/';

/** From the address without the slash at its end, also where the base URL has a path. */
const guideRelative = 'guide/';

/** Highlighted code has its colours in attributes of style; scripts and style sheets are files of the site. */
const guidePolicy = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'style-src-attr': ["'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** Routes below the address, open to everybody and no part of the API. */
export async function registerUnderGuide(app: App, register: (scope: App) => Promise<void>): Promise<void> {
  await app.register(
    async (scope) => {
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, access: { api: 'public' } };
        route.schema = { ...route.schema, hide: true };
      });
      // The site is served over http too, on a machine of one's own.
      await scope.register(helmet, { contentSecurityPolicy: { useDefaults: false, directives: guidePolicy } });
      scope.get('', (_request, reply) => reply.redirect(guideRelative, 302));
      await register(scope);
    },
    { prefix: guideAddress.slice(0, -1) },
  );
}
