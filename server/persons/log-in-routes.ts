/** Where a log-in for the pages of persons comes back. */

import type { App } from '../http/fastify.ts';
import { signedUpOf, signedUpPath } from '../oidc/index.ts';
import { PageError } from '../pages/index.ts';
import { beginLogIn, beginSession, completeLogIn, endSession } from '../portal/index.ts';
import { type PersonServices, personPage, type Visit } from './requests.ts';

/** Sends the browser to the issuer. @param path where it goes on, below the tenant */
export function sendToLogIn(
  services: PersonServices,
  visit: Visit,
  path: string,
  wish: { again?: boolean; email?: string } = {},
) {
  const { url, kept } = beginLogIn(services, visit.party, path, wish);
  visit.setCookie('log_in', kept);
  return visit.reply.redirect(url, 303);
}

export function registerLogIn(app: App, root: Pick<App, 'inject'>, services: PersonServices): void {
  personPage(app, services, ['GET', '/account/log-in/callback'], async (visit) => {
    const answer = visit.request.query as Record<string, string | undefined>;
    const came = { tenant: visit.tenant.snapshot, kept: visit.readCookie('log_in'), answer };
    const done = await completeLogIn(services, visit.party, root, came);
    visit.setCookie('log_in', undefined);
    if (done === undefined)
      throw new PageError(400, { kind: answer.error === 'access_denied' ? 'access_denied' : 'expired' });
    const { account, authenticatedAt, issuerSession } = done;
    const origin = { issuerSession, device: visit.device };
    const value = await beginSession(services.accounts, visit.code, account, authenticatedAt, origin);
    await replaceSession(services, visit, value);
    return visit.goTo(done.to);
  });
  personPage(app, services, ['POST', signedUpPath], async (visit) => {
    const done = await signedUpOf(services, visit.request);
    // Shown for too long: what is left is to log in.
    if (done === undefined) return visit.goTo('/account');
    const { account, authenticatedAt } = done;
    const origin = { device: visit.device };
    const value = await beginSession(services.accounts, visit.code, account, authenticatedAt, origin);
    await replaceSession(services, visit, value);
    return visit.goTo(visit.readCookie('invitation') === undefined ? '/account' : '/invitation/answer');
  });
}

/** Another session begins in the browser: that of before, and what was planted, is not the one that goes on. */
export async function replaceSession({ accounts }: PersonServices, visit: Visit, value: string): Promise<void> {
  const before = visit.readCookie('session');
  if (before !== undefined) await endSession(accounts, visit.code, before);
  visit.setCookie('session', value);
}
