/** /portal: where members log in, choose a tenant, and do what needs a browser. */
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { acceptForms, sendPage, tenantChoicePage } from '../pages/index.ts';
import { type ApplicationServices, registerApplication } from './application-routes.ts';
import { type InvitationRouteServices, registerInvitationPages } from './invitation-routes.ts';
import { registerLogInLink } from './log-in-link-routes.ts';
import { registerLogIn } from './log-in-routes.ts';
import { contextOf, csrfOf, goTo, portalPage, requireSession } from './requests.ts';
import { registerSession, type SessionRouteServices, tenantsOf } from './session-routes.ts';
import { registerTenantPages, type TenantRouteServices } from './tenant-routes.ts';

type PortalRouteServices = SessionRouteServices & InvitationRouteServices & TenantRouteServices & ApplicationServices;

export function registerPortalRoutes(app: App, services: PortalRouteServices): void {
  registerApplication(app, services);
  registerSession(app, services);
  acceptForms(app, limits.portalFormBytesMax, (own) => {
    registerLogIn(own, app, services);
    if (services.portal.logInLinks) registerLogInLink(own, services);
    registerInvitationPages(own, services);
    registerTenantPages(own, services);
    registerTenantList(own, services);
  });
}

function registerTenantList(app: App, services: PortalRouteServices): void {
  portalPage(app, services, ['GET', '/portal/tenants'], async (request, reply) => {
    const session = await requireSession(services, request);
    const { baseUrl } = services;
    const found = await tenantsOf(services, session.account.id);
    const tenants = found.map((one) => ({ ...one, url: `${baseUrl}/portal/tenants/${one.code}` }));
    const [only] = tenants;
    if (only !== undefined && tenants.length === 1)
      return goTo(services, request, reply, `/portal/tenants/${only.code}`);
    const logOut = { action: `${baseUrl}/portal/log-out`, csrf: csrfOf(services, session.value) };
    return sendPage(reply, tenantChoicePage(contextOf(services, request), { tenants, logOut }));
  });
}
