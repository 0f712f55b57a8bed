/** /portal: where members log in, choose a tenant, and do what needs a browser. */
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { acceptForms, sendPage, tenantChoicePage } from '../pages/index.ts';
import { type InvitationRouteServices, registerInvitationPages } from './invitation-routes.ts';
import { type LogInRouteServices, registerLogIn } from './log-in-routes.ts';
import { membershipsOf } from './memberships.ts';
import { contextOf, csrfOf, goTo, portalPage, requireSession } from './requests.ts';
import { registerTenantPages, type TenantRouteServices } from './tenant-routes.ts';

type PortalRouteServices = LogInRouteServices & InvitationRouteServices & TenantRouteServices;

export function registerPortalRoutes(app: App, services: PortalRouteServices): void {
  acceptForms(app, limits.portalFormBytesMax, (own) => {
    registerLogIn(own, app, services);
    registerInvitationPages(own, services);
    registerTenantPages(own, services);
    registerHome(own, services);
  });
}

function registerHome(app: App, services: PortalRouteServices): void {
  portalPage(app, services, ['GET', '/portal'], async (request, reply) => {
    const session = await requireSession(services, request);
    const { baseUrl, accounts } = services;
    const memberships = await membershipsOf(accounts, session.account.id);
    const tenants = memberships.flatMap(({ code, role }) => {
      const tenant = services.snapshots.get(code);
      if (!tenant?.active) return [];
      return [{ code, role, name: tenant.spec.displayName, url: `${baseUrl}/portal/tenants/${code}` }];
    });
    const [only] = tenants;
    if (only !== undefined && tenants.length === 1)
      return goTo(services, request, reply, `/portal/tenants/${only.code}`);
    const logOut = { action: `${baseUrl}/portal/log-out`, csrf: csrfOf(services, session.value) };
    return sendPage(reply, tenantChoicePage(contextOf(services, request), { tenants, logOut }));
  });
}
