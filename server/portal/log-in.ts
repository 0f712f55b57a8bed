/**
 * Our own pages as an application of a tenant's issuer: authorization code with PKCE, state and nonce (OpenID Connect Core section
 * 3.1). The token endpoint is asked within the process: {base} need not be an address that the server itself can reach.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { type Account, type AccountServices, readAccount } from '../accounts/index.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import type { App } from '../http/fastify.ts';
import { identityKeys, ownIssuer } from '../keys/index.ts';
import { issuerSessionOfCode, type OfAccountServices } from '../oidc/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';

export type LogInServices = {
  accounts: AccountServices;
  keys: Parameters<typeof identityKeys>[0];
  encrypter: Encrypter;
  baseUrl: string;
};

/** The client of a tenant that our pages are, and where its answers are sent, below {base}. */
export type RelyingParty = Readonly<{ tenant: string; clientId: string; callbackPath: string }>;

/** What the browser keeps of a log-in under way, encrypted: nobody else can have begun it. */
type Begun = { state: string; nonce: string; verifier: string; to: string; untilMs: number };

const placeOf = ({ tenant, clientId }: RelyingParty) => [tenant, clientId, 'log_in'];
const random = () => randomBytes(32).toString('base64url');

/**
 * @param to where the person goes afterwards, a path below {base}
 * @param wish `again`: also somebody who is logged in proves it anew; `email`: whose address is filled in
 * @returns the address to go to, and what the browser must keep
 */
export function beginLogIn(
  { encrypter, accounts, baseUrl }: LogInServices,
  party: RelyingParty,
  to: string,
  wish: { again?: boolean; email?: string } = {},
): { url: string; kept: string } {
  const begun: Begun = {
    ...{ state: random(), nonce: random(), verifier: random(), to },
    untilMs: accounts.clock.now() + limits.portalLogInMs,
  };
  const url = new URL(`${ownIssuer(baseUrl, party.tenant)}/authorize`);
  const challenge = createHash('sha256').update(begun.verifier).digest('base64url');
  url.search = new URLSearchParams({
    ...{ client_id: party.clientId, response_type: 'code', scope: 'openid' },
    redirect_uri: baseUrl + party.callbackPath,
    ...{ state: begun.state, nonce: begun.nonce, code_challenge: challenge, code_challenge_method: 'S256' },
    ...(wish.again ? { prompt: 'login' } : {}),
    ...(wish.email === undefined ? {} : { login_hint: wish.email }),
  }).toString();
  const kept = encrypter.encrypt(Buffer.from(JSON.stringify(begun)), placeOf(party));
  return { url: url.href, kept: kept.toString('base64url') };
}

export type LoggedIn = { account: Account; authenticatedAt: number; to: string; issuerSession: Buffer };

type Came = {
  tenant: TenantSnapshot;
  /** What the browser kept. */
  kept: string | undefined;
  answer: Readonly<Record<string, string | undefined>>;
};

/**
 * Before the answer is known to be of a log-in that this browser began, nothing is looked up: anybody may send one.
 * @returns undefined when it is of none, or the issuer refused it
 */
export async function completeLogIn(
  services: LogInServices & { oidc: OfAccountServices },
  party: RelyingParty,
  app: Pick<App, 'inject'>,
  { tenant, kept, answer }: Came,
): Promise<LoggedIn | undefined> {
  const begun = open(services, party, kept);
  if (begun === undefined || answer.state !== begun.state || answer.code === undefined) return undefined;
  // RFC 9207: the answer of another issuer is not redeemed at ours.
  if (answer.iss !== ownIssuer(services.baseUrl, party.tenant)) return undefined;
  // Which log-in at the issuer it is, the code says until it is exchanged.
  const issuerSession = await issuerSessionOfCode(services.oidc, tenant, answer.code);
  if (issuerSession === undefined) return undefined;
  const idToken = await redeem(services, party, app, answer.code, begun.verifier);
  if (idToken === undefined) return undefined;
  const claims = await verify(services, party, idToken, begun.nonce);
  const account = await readAccount(services.accounts, party.tenant, claims.sub);
  return account && { account, authenticatedAt: claims.authTime * 1000, to: begun.to, issuerSession };
}

function open(
  { encrypter, accounts }: LogInServices,
  party: RelyingParty,
  kept: string | undefined,
): Begun | undefined {
  if (kept === undefined) return undefined;
  try {
    const begun = JSON.parse(encrypter.decrypt(Buffer.from(kept, 'base64url'), placeOf(party)).toString()) as Begun;
    return begun.untilMs > accounts.clock.now() ? begun : undefined;
  } catch {
    return undefined;
  }
}

async function redeem(
  { baseUrl }: LogInServices,
  party: RelyingParty,
  app: Pick<App, 'inject'>,
  code: string,
  verifier: string,
) {
  const response = await app.inject({
    method: 'POST',
    url: `/${party.tenant}/oidc/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, code_verifier: verifier },
      ...{ client_id: party.clientId, redirect_uri: baseUrl + party.callbackPath },
    }).toString(),
  });
  const { id_token: idToken } = response.json() as { id_token?: string };
  return response.statusCode === 200 ? idToken : undefined;
}

async function verify({ keys, accounts, baseUrl }: LogInServices, party: RelyingParty, idToken: string, nonce: string) {
  const { keys: own } = await identityKeys(keys, party.tenant);
  const jwks = { keys: own.map(({ kid, algorithm, publicJwk }) => ({ ...publicJwk, kid, alg: algorithm })) };
  const { payload } = await jwtVerify(idToken, createLocalJWKSet(jwks as JSONWebKeySet), {
    ...{ issuer: ownIssuer(baseUrl, party.tenant), audience: party.clientId, algorithms: ['RS256'] },
    currentDate: new Date(accounts.clock.now()),
    requiredClaims: ['sub', 'nonce', 'iat', 'exp', 'auth_time'],
  });
  if (payload.nonce !== nonce || payload.sub === undefined) {
    throw problem('internal_error', { cause: new Error('an ID token of the own issuer has another nonce') });
  }
  return { sub: payload.sub, authTime: Number(payload.auth_time) };
}
