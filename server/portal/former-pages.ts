/** Addresses of pages that the web application replaced: links to them lead to its own. */
import type { App } from '../http/fastify.ts';
import { PageError } from '../pages/index.ts';
import { goTo, type PortalPageServices, portalPage } from './requests.ts';

const PAGE = /^([a-z][a-z0-9-]{1,39})(?:\/(members|invitations|invitations\/new|tokens))?\/?$/;
const places: Record<string, string> = { members: '/settings/members', tokens: '/settings/token' };

export function registerFormerPages(app: App, services: PortalPageServices): void {
  portalPage(app, services, ['GET', '/portal/tenants'], async (request, reply) =>
    goTo(services, request, reply, '/portal'),
  );
  portalPage(app, services, ['GET', '/portal/tenants/*'], async (request, reply) => {
    const [, tenant, page] = PAGE.exec((request.params as { '*': string })['*']) ?? [];
    if (tenant === undefined) throw new PageError(404, { kind: 'not_found' });
    const place = page === undefined ? '' : (places[page] ?? places.members);
    return goTo(services, request, reply, `/portal/t/${tenant}${place}`);
  });
}
