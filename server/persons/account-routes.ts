/** The page of a person's own account: what it shares, has allowed and agreed to, and how it logs in, with taking each back. */
import type { FastifyReply } from 'fastify';
import { hasPassword } from '../accounts/index.ts';
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { ownIssuer } from '../keys/index.ts';
import { endIssuerSessions, ownPagesClient } from '../oidc/index.ts';
import { accountNoticeOf, accountPage, type FieldErrors, loggedOutPage } from '../pages/index.ts';
import { endSession, isRecent } from '../portal/index.ts';
import { clientsOf, registerClients } from './account-clients.ts';
import { identitiesOf, passkeysOf, registerLogIns, sessionsOf, takesPasskeys } from './account-log-ins.ts';
import { NAME, PASSKEY_NAME, registerNames } from './account-names.ts';
import { registerPassword } from './account-password.ts';
import { consentsOf, registerShares, relationshipsOf, sharesOf } from './account-shares.ts';
import {
  ACCOUNT,
  type AccountPageServices,
  afterLogIn,
  endingOf,
  LOG_IN,
  logInAgain,
  type OwnVisit,
  ownPage,
  sharingPages,
} from './account-visit.ts';
import { hasSharing } from './caller.ts';
import { sendToLogIn } from './log-in-routes.ts';
import { personPage } from './requests.ts';

const LOGGED_OUT = `${ACCOUNT}/logged-out`;

export function registerAccount(app: App, services: AccountPageServices): void {
  ownPage(app, services, ['GET', ''], (own) => showAccount(services, own));
  personPage(app, services, ['GET', LOG_IN], async (visit) => {
    const { to = '', again } = visit.request.query as { to?: string; again?: string };
    const path = Object.hasOwn(afterLogIn, to) ? afterLogIn[to as keyof typeof afterLogIn] : ACCOUNT;
    const email = (await visit.session())?.account.email;
    return sendToLogIn(services, visit, path, { again: again === '1', ...(email === undefined ? {} : { email }) });
  });
  personPage(app, services, ['GET', LOGGED_OUT], async (visit) =>
    visit.send(loggedOutPage(visit.context, { logInUrl: visit.address(ACCOUNT) })),
  );
  ownPage(app, services, ['POST', '/log-out'], async (own) => {
    const { visit, session } = own;
    await endSession(services.accounts, visit.code, session.value);
    visit.setCookie('session', undefined);
    if (session.issuerSession !== undefined) {
      await endIssuerSessions(services.oidc, endingOf(own), [session.issuerSession.toString('base64url')]);
      return visit.goTo(LOGGED_OUT);
    }
    // Which log-in it came from is not known: the issuer asks.
    const back = { client_id: ownPagesClient, post_logout_redirect_uri: visit.address(ACCOUNT) };
    return visit.leave(`${ownIssuer(services.baseUrl, visit.code)}/end-session?${new URLSearchParams(back)}`);
  });
  registerShares(app, services);
  registerClients(app, services);
  registerLogIns(app, services);
  registerNames(app, services);
  registerPassword(app, services, (own, errors) => showAccount(services, own, errors));
}

type PasswordErrors = FieldErrors<'currentPassword' | 'password'>;

/** @param errors of the form for another password, which is shown again */
async function showAccount(
  services: AccountPageServices,
  own: OwnVisit,
  errors?: PasswordErrors,
): Promise<FastifyReply> {
  const { visit, session } = own;
  const { account } = session;
  const to = (path: string) => visit.address(ACCOUNT + path);
  const [shares, relationships, consents, clients, sessions, passkeys, identities, has] = await Promise.all([
    sharesOf(services, own),
    relationshipsOf(services, own),
    consentsOf(services, own),
    clientsOf(services, own),
    sessionsOf(services, own),
    passkeysOf(services, own),
    identitiesOf(services, own),
    hasPassword(services.accounts, visit.code, account.id),
  ]);
  const available = services.linking.available(visit.tenant.snapshot);
  const canAdd = takesPasskeys(services);
  const { email, emailVerified, displayName } = account;
  const notice = accountNoticeOf((visit.request.query as { notice?: unknown }).notice);
  const page = accountPage(visit.context, {
    csrf: visit.csrf(session.value),
    account: { email, emailVerified, ...(displayName === undefined ? {} : { displayName }) },
    ...(notice === undefined ? {} : { notice }),
    nameUrl: to(NAME),
    ...(hasSharing(visit.tenant) ? { sharingUrl: visit.address(sharingPages.shares) } : {}),
    logOutAction: to('/log-out'),
    shares: { action: to('/shares/end'), items: shares },
    ...(relationships === undefined
      ? {}
      : { relationships: { action: to('/relationships/end'), items: relationships } }),
    consents: { action: to('/consents/end'), items: consents },
    clients: { action: to('/clients/end'), items: clients },
    sessions: { action: to('/sessions/end'), endOthersAction: to('/sessions/end-others'), items: sessions },
    ...(canAdd || passkeys.length > 0
      ? {
          passkeys: {
            action: to('/passkeys/end'),
            items: passkeys.map((one) => ({
              ...one,
              renameUrl: `${to(PASSKEY_NAME)}?${new URLSearchParams({ id: one.id })}`,
            })),
            ...(canAdd ? { addUrl: to('/passkeys/new') } : {}),
          },
        }
      : {}),
    ...(available.length > 0 || identities.length > 0
      ? { logIns: { action: to('/log-ins/end'), linkAction: to('/log-ins/link'), items: identities, available } }
      : {}),
    password: isRecent(session, services.accounts.clock.now())
      ? {
          ...{ action: to('/password'), hasPassword: has, passwordCharsMin: limits.passwordCharsMin },
          ...(errors === undefined ? {} : { errors }),
        }
      : { logInUrl: visit.address(logInAgain('password')), hasPassword: has },
  });
  return visit.send(page, errors === undefined ? 200 : 400);
}
