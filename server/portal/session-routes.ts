/** /portal/session: who is logged in, as the pages of the web application ask for it. */
import { portalTenant } from '../core/portal-tenant.ts';
import type { App } from '../http/fastify.ts';
import { guideAddress } from '../http/guide-address.ts';
import type { PortalOptions } from '../room/room.ts';
import type { Snapshots } from '../snapshot/index.ts';
import { requirePortalSession } from './caller.ts';
import { endSessionOf, type LogInRouteServices } from './log-in-routes.ts';
import { membershipsOf } from './memberships.ts';
import type { SessionServices } from './sessions.ts';

export type SessionRouteServices = LogInRouteServices &
  SessionServices & {
    portal: PortalOptions;
    /** ACCORD_ENVIRONMENT */
    environment: string | undefined;
    /** The documentation has an address here. */
    hasGuide: boolean;
  };

export function registerSession(app: App, services: SessionRouteServices): void {
  app.route({
    method: 'GET',
    url: '/portal/session',
    exposeHeadRoute: false,
    config: { access: { api: 'public' } },
    schema: { hide: true },
    handler: async ({ headers }) => {
      const { account, authenticatedAt, expiresAt } = await requirePortalSession(services, headers);
      const mailbox = services.portal.mailbox?.();
      return {
        email: account.email,
        ...(account.displayName === undefined ? {} : { displayName: account.displayName }),
        ...{ authenticatedAt: new Date(authenticatedAt).toISOString(), expiresAt },
        tenants: await tenantsOf(services, account.id),
        ...(services.environment === undefined ? {} : { environment: services.environment }),
        ...(mailbox === undefined ? {} : { mailbox }),
        ...(services.hasGuide ? { guide: guideAddress } : {}),
      };
    },
  });
  app.route({
    method: 'POST',
    url: '/portal/session/end',
    config: { access: { api: 'public', scarce: true } },
    schema: { hide: true },
    handler: async (request, reply) => {
      await requirePortalSession(services, request.headers);
      return { location: `${services.baseUrl}${await endSessionOf(services, request, reply)}` };
    },
  });
}

/** The tenants that a person may choose from: where a member is, of those that are served. */
export async function tenantsOf(
  { accounts, snapshots }: Pick<LogInRouteServices, 'accounts'> & { snapshots: Pick<Snapshots, 'get'> },
  account: string,
) {
  const memberships = await membershipsOf(accounts, account);
  return memberships.flatMap(({ code, role }) => {
    const tenant = code === portalTenant ? undefined : snapshots.get(code);
    return tenant?.active ? [{ code, name: tenant.spec.displayName, role }] : [];
  });
}
