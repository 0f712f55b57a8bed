/** Logging in at the portal and out again. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccountServices } from '../accounts/index.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { problem } from '../core/problems.ts';
import type { App } from '../http/fastify.ts';
import { ownIssuer } from '../keys/index.ts';
import { endIssuerSessions, type OfAccountServices } from '../oidc/index.ts';
import { loggedOutPage, PageError, sendPage } from '../pages/index.ts';
import type { Snapshots, TenantSnapshot } from '../snapshot/index.ts';
import { beginLogIn, completeLogIn, type LogInServices } from './log-in.ts';
import { contextOf, goTo, portalPage, readCookie, replaceSession, sessionOf, setCookie } from './requests.ts';
import { returnPathOf } from './return-path.ts';
import { beginSession, endSession, type Session } from './sessions.ts';
import { callbackPath, portalClient, portalParty } from './tenant.ts';

export type LogInRouteServices = LogInServices & {
  accounts: AccountServices;
  oidc: OfAccountServices;
  snapshots: Pick<Snapshots, 'get'>;
};

const LOGGED_OUT = '/portal/logged-out';

export function registerLogIn(app: App, root: Pick<App, 'inject'>, services: LogInRouteServices): void {
  portalPage(app, services, ['GET', '/portal/log-in'], async (request, reply) => {
    const { to, again } = request.query as { to?: string; again?: string };
    const { url, kept } = beginLogIn(services, portalParty, returnPathOf(to), { again: again === '1' });
    setCookie(services, reply, 'log_in', kept);
    return reply.redirect(url, 303);
  });
  portalPage(app, services, ['GET', callbackPath], async (request, reply) => {
    const answer = request.query as Record<string, string | undefined>;
    const kept = readCookie(services, request, 'log_in');
    const done = await completeLogIn(services, portalParty, root, { tenant: snapshotOf(services), kept, answer });
    setCookie(services, reply, 'log_in', undefined);
    if (done === undefined) {
      const back = { url: `${services.baseUrl}/portal/log-in` };
      throw new PageError(400, { kind: answer.error === 'access_denied' ? 'access_denied' : 'expired', back });
    }
    const { account, authenticatedAt, issuerSession } = done;
    const value = await beginSession(services.accounts, portalTenant, account, authenticatedAt, { issuerSession });
    await replaceSession(services, request, reply, value);
    return goTo(services, request, reply, done.to);
  });
  portalPage(app, services, ['GET', LOGGED_OUT], async (request, reply) =>
    sendPage(reply, loggedOutPage(contextOf(services, request), { logInUrl: `${services.baseUrl}/portal` })),
  );
}

/** Ends the session of the browser and the log-in that it came from. @returns the path to which the browser goes on */
export async function endSessionOf(
  services: LogInRouteServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const value = readCookie(services, request, 'session');
  const session = await sessionOf(services, request);
  if (value !== undefined) await endSession(services.accounts, portalTenant, value);
  setCookie(services, reply, 'session', undefined);
  if (session?.issuerSession !== undefined) {
    await endLogIn(services, session, session.issuerSession, request.id);
    return LOGGED_OUT;
  }
  // Which log-in it came from is not known: the issuer asks.
  const query = new URLSearchParams({
    client_id: portalClient,
    post_logout_redirect_uri: `${services.baseUrl}/portal`,
  });
  return `${ownIssuer('', portalTenant)}/end-session?${query}`;
}

/** @throws Problem not_ready before this server serves the portal's tenant */
function snapshotOf({ snapshots }: LogInRouteServices): TenantSnapshot {
  const snapshot = snapshots.get(portalTenant);
  if (snapshot === undefined) throw problem('not_ready');
  return snapshot;
}

/** Ends the log-in at the issuer, so that nobody is asked twice. */
async function endLogIn(
  services: LogInRouteServices,
  { account: { id, email } }: Session,
  issuerSession: Buffer,
  requestId: string,
): Promise<void> {
  const tenant = snapshotOf(services);
  const author = { tenant: portalTenant, by: { actor: `member:${email}`, requestId } };
  const name = `${tenant.spec.tokenMapping.defaultActorType}/${id}`;
  await endIssuerSessions(services.oidc, { tenant, author, account: id, name }, [issuerSession.toString('base64url')]);
}
