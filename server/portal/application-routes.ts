/**
 * The web application: one document at all its addresses, with a nonce of its own for each answer, and its assets. Where it is
 * not built, a page says so.
 */
import { randomBytes } from 'node:crypto';
import fastifyStatic from '@fastify/static';
import { Type } from 'typebox';
import type { App } from '../http/fastify.ts';
import { applicationHeaders, portalNoticePage, sendPage } from '../pages/index.ts';
import type { PortalOptions } from '../room/room.ts';
import { openBundle } from './bundle.ts';
import { basePathOf, contextOf, type PortalPageServices, portalPage, requireSession } from './requests.ts';

export type ApplicationServices = PortalPageServices & { portal: PortalOptions };

// A browser shows a picture or a text in a frame, too. A worker takes its policy from here: it says nothing of what that may load.
const assetHeaders = {
  'content-security-policy': "frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};
const NONCE_BYTES = 16;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const NOT_BUILT = 503;

export function registerApplication(app: App, services: ApplicationServices): void {
  const { baseUrl, portal } = services;
  const bundle = openBundle(portal);
  const base = basePathOf(baseUrl).replaceAll('&', '&amp;');
  for (const url of ['/portal', '/portal/t/*'])
    portalPage(app, services, ['GET', url], async (request, reply) => {
      await requireSession(services, request);
      const index = await bundle.index();
      if (index === undefined) {
        const building = portal.building?.() ?? 'missing';
        const page = portalNoticePage(contextOf(services, request), { building, listUrl: `${baseUrl}/portal/tenants` });
        return sendPage(reply, page, NOT_BUILT);
      }
      const nonce = randomBytes(NONCE_BYTES).toString('base64');
      const body = index.replaceAll('__ACCORD_NONCE__', nonce).replaceAll('__ACCORD_BASE__', () => base);
      return sendPage(reply, { headers: applicationHeaders(nonce), body });
    });
  app.register(async (scope) => {
    await scope.register(fastifyStatic, {
      root: bundle.assets,
      serve: false,
      suppressWarning: true,
      preCompressed: true,
    });
    scope.route({
      method: 'GET',
      url: '/portal/assets/*',
      exposeHeadRoute: false,
      config: { access: { api: 'public' } },
      schema: { hide: true, params: Type.Object({ '*': Type.String() }) },
      handler: (request, reply) => {
        reply.headers(assetHeaders);
        const { '*': file } = request.params as { '*': string };
        return reply.sendFile(file, { maxAge: YEAR_MS, immutable: true, index: false, dotfiles: 'ignore' });
      },
    });
  });
}
