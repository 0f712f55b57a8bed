/** People who log in: an account, a browser, and an application as a strict relying party. */
import * as oc from 'openid-client';
import { signUp } from '../../server/accounts/index.ts';
import { Browser, callback, type Jar, type OidcServer, type Spec, type Visited } from './relying-party.ts';

export const password = 'correct horse battery staple';

/** @returns the account's id */
export async function createAccount(server: OidcServer, tenant: string, email: string): Promise<string> {
  const made = await signUp(server.services.accounts, tenant, {
    email,
    password,
    displayName: 'A. User',
    invitedEmail: email,
  });
  if (made.status !== 'created') throw new Error(`${email}: ${made.status}`);
  return made.account.id;
}

export const webSpec: Spec = {
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: [callback],
  postLogoutRedirectUris: ['http://127.0.0.1:9/bye'],
  scopes: ['openid', 'profile', 'email', 'offline_access'],
  firstParty: true,
};

export type Begun = {
  browser: Browser;
  page: Visited;
  /** Exchanges what the redirect brought. */
  grant(
    at?: URL,
    parameters?: Record<string, string>,
    options?: oc.AuthorizationCodeGrantOptions,
  ): ReturnType<typeof oc.authorizationCodeGrant>;
  checks: oc.AuthorizationCodeGrantChecks;
  url: URL;
};

/** Sends a browser to the authorization endpoint. */
export async function begin(
  server: OidcServer,
  config: oc.Configuration,
  parameters: Record<string, string> = {},
  { jar, pkce = true }: { jar?: Jar; pkce?: boolean } = {},
): Promise<Begun> {
  const browser = new Browser(server, jar);
  const verifier = oc.randomPKCECodeVerifier();
  const [state, nonce] = [oc.randomState(), oc.randomNonce()];
  const url = oc.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid',
    ...{ state, nonce },
    ...(pkce ? { code_challenge: await oc.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' } : {}),
    ...parameters,
  });
  const page = await browser.open(url);
  const checks = {
    ...(pkce ? { pkceCodeVerifier: verifier } : {}),
    ...{ expectedState: state, expectedNonce: nonce, idTokenExpected: true },
  };
  return {
    ...{ browser, page, checks, url },
    grant: (at = page.left as URL, more = {}, options = undefined) =>
      oc.authorizationCodeGrant(config, at, checks, more, options),
  };
}

/** The same, up to the redirect to the application. */
export async function logIn(
  server: OidcServer,
  config: oc.Configuration,
  {
    email,
    parameters = {},
    jar,
    pkce = true,
  }: { email: string; parameters?: Record<string, string>; jar?: Jar; pkce?: boolean },
) {
  const begun = await begin(server, config, parameters, { pkce, ...(jar ? { jar } : {}) });
  const done = begun.page.left ? begun.page : await begun.browser.submit(begun.page, '/log-in', { email, password });
  return {
    ...begun,
    done,
    left: done.left as URL,
    grant: (more = {}, options?: oc.AuthorizationCodeGrantOptions) => begun.grant(done.left as URL, more, options),
  };
}
