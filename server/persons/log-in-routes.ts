/** Where a log-in for the pages of persons comes back. */

import type { App } from '../http/fastify.ts';
import { issuerSessionOfCode } from '../oidc/index.ts';
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
    const { code } = visit;
    // Which log-in at the issuer it is, the code says until it is exchanged.
    const issuerSession = await issuerSessionOfCode(services.oidc, visit.tenant.snapshot, answer.code ?? '');
    const done = await completeLogIn(services, visit.party, root, visit.readCookie('log_in'), answer);
    visit.setCookie('log_in', undefined);
    if (done === undefined || issuerSession === undefined)
      throw new PageError(400, { kind: answer.error === 'access_denied' ? 'access_denied' : 'expired' });
    // The session of before, and what was planted, is not the one that goes on.
    const before = visit.readCookie('session');
    if (before !== undefined) await endSession(services.accounts, code, before);
    const origin = { issuerSession, device: visit.device };
    const { account, authenticatedAt } = done;
    visit.setCookie('session', await beginSession(services.accounts, code, account, authenticatedAt, origin));
    return visit.goTo(done.to);
  });
}
