/** /portal: where members log in, and the web application in which they administer their tenants. */
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { acceptForms } from '../pages/index.ts';
import { type ApplicationServices, registerApplication } from './application-routes.ts';
import { registerFormerPages } from './former-pages.ts';
import { registerFrame } from './frame-routes.ts';
import { type InvitationRouteServices, registerInvitationPages } from './invitation-routes.ts';
import { registerLogInLink } from './log-in-link-routes.ts';
import { registerLogIn } from './log-in-routes.ts';
import { registerRoot } from './root-route.ts';
import { registerSession, type SessionRouteServices } from './session-routes.ts';

type PortalRouteServices = SessionRouteServices & InvitationRouteServices & ApplicationServices;

export function registerPortalRoutes(app: App, services: PortalRouteServices): void {
  registerRoot(app, services);
  registerApplication(app, services);
  registerFormerPages(app, services);
  registerSession(app, services);
  registerFrame(app, services);
  acceptForms(app, limits.portalFormBytesMax, (own) => {
    registerLogIn(own, app, services);
    if (services.portal.logInLinks) registerLogInLink(own, services);
    registerInvitationPages(own, services);
  });
}
