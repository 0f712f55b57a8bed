/** The pages of a tenant's persons. */

import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { acceptForms } from '../pages/index.ts';
import { registerAccount } from './account-routes.ts';
import { registerInvitationPages } from './invitation-routes.ts';
import { registerLogIn } from './log-in-routes.ts';
import { registerSharing, type SharingServices } from './sharing-routes.ts';

export function registerPersonRoutes(app: App, services: SharingServices): void {
  acceptForms(app, limits.formBodyBytesMax, (own) => {
    registerLogIn(own, app, services);
    registerInvitationPages(own, services);
    registerAccount(own, services);
    registerSharing(own, services);
  });
}
