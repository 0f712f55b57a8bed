/** What a verified token's claims mean, pure: whether they hold now, whether a client or a user speaks, and who. */
import { createHash } from 'node:crypto';
import { isTypeName, wrongId } from '../ids.ts';
import { limits } from '../limits.ts';
import { comparableAddress } from '../mail-address.ts';
import { invalidToken } from './problems.ts';
import {
  type Actor,
  type Caller,
  type ContactClaims,
  type DeniedTokens,
  type IssuerConfig,
  scopes as knownScopes,
} from './schema.ts';

export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string; readonly exp: number };

/** What the claims of a token are checked for, once its signature has been verified. Each throws Problem unauthenticated. */
type ClaimCheck = (claims: Record<string, unknown>, issuer: Pick<IssuerConfig, 'audiences'>, now: number) => void;

export const claimSteps = ['times', 'subject', 'audience', 'binding'] as const;
type ClaimStep = (typeof claimSteps)[number];

export const claimChecks: Readonly<Record<ClaimStep, ClaimCheck>> = {
  times(claims, _issuer, now) {
    if (typeof claims.exp !== 'number' || !Number.isFinite(claims.exp)) throw invalidToken('exp is missing');
    if (claims.exp * 1000 <= now) throw invalidToken('the token has expired');
    for (const name of ['nbf', 'iat'] as const) {
      const instant = claims[name];
      if (instant === undefined) continue;
      if (typeof instant !== 'number' || !Number.isFinite(instant)) throw invalidToken(`${name} is not a number`);
      if (instant * 1000 > now + limits.clockToleranceMs) throw invalidToken(`${name} is in the future`);
    }
  },
  subject({ sub }) {
    if (typeof sub !== 'string' || sub === '') throw invalidToken('sub is missing');
    if (sub.length > limits.subjectCharsMax) throw invalidToken('sub is too long');
  },
  audience({ aud }, issuer) {
    const audiences = Array.isArray(aud) ? aud : [aud];
    if (!audiences.some((audience) => issuer.audiences.includes(audience)))
      throw invalidToken('aud names no audience of this tenant');
  },
  // Bound to a certificate, or in a way that we do not know: such a token may be a stolen one.
  binding({ cnf }) {
    if (cnf !== undefined && boundTo(cnf) === undefined)
      throw invalidToken('the token is bound to a key other than by DPoP');
  },
};

/** By which a token is revoked. */
export type RevocableClaims = {
  readonly sub: string;
  readonly client_id?: unknown;
  readonly jti?: unknown;
  readonly iat?: unknown;
};

/**
 * Checks the registered claims (RFC 7519 section 4.1) against the issuer and the instant.
 * @param now milliseconds
 * @param passed is told of each check that the claims pass
 * @throws Problem unauthenticated
 */
export function checkClaims(
  payload: unknown,
  issuer: Pick<IssuerConfig, 'issuer' | 'audiences'>,
  now: number,
  passed?: (step: ClaimStep) => void,
): Claims {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw invalidToken('the claims are not an object');
  const claims = payload as Record<string, unknown>;
  if (claims.iss !== issuer.issuer) throw invalidToken('the issuer is not trusted');
  for (const step of claimSteps) {
    claimChecks[step](claims, issuer, now);
    passed?.(step);
  }
  return claims as Claims;
}

/** A subject that was erased, as the denied tokens name it. */
export const erasedName = (sub: string): string => createHash('sha256').update(sub).digest('base64url');

/** What a client got for a subject, as the denied tokens name it: neither has a space. */
export const grantName = (sub: string, clientId: string): string => `${sub} ${clientId}`;

/** Whether a verified token of the tenant's own issuer was revoked: by itself, or with its client, its subject or both. */
export function isDenied({ sub, client_id, jti, iat }: RevocableClaims, denied: DeniedTokens): boolean {
  if (typeof jti === 'string' && denied.jtis.has(jti)) return true;
  const never = Number.NEGATIVE_INFINITY;
  let until = denied.subjects.get(sub)?.untilMs ?? never;
  if (denied.erased.size > 0) until = Math.max(until, denied.erased.get(erasedName(sub))?.untilMs ?? never);
  if (typeof client_id === 'string') {
    const [ofClient, ofBoth] = [denied.clients.get(client_id), denied.grants.get(grantName(sub, client_id))];
    until = Math.max(until, ofClient?.untilMs ?? never, ofBoth?.untilMs ?? never);
  }
  // iat has whole seconds: one of the same second may have been issued before.
  return until > never && !(typeof iat === 'number' && iat * 1000 > until);
}

/** The caller that verified claims stand for. @throws Problem unauthenticated when they name no actor */
export function callerOf(claims: Claims, tenant: string, issuer: IssuerConfig): Caller {
  const jkt = boundTo(claims.cnf);
  const bound = jkt === undefined ? {} : { jkt };
  if (isClient(claims, issuer)) {
    const clientId = [claims.client_id, claims.azp, claims.sub].find((id) => typeof id === 'string') as string;
    if (clientId.length > limits.subjectCharsMax) throw invalidToken('the client id is too long');
    if (!isText(clientId)) throw invalidToken('the client id is not valid text');
    return { kind: 'backend', tenant, clientId, scopes: scopesOf(claims, issuer), issuer: issuer.issuer, ...bound };
  }
  const email = verifiedAddress(claims, issuer.contactClaims);
  return { kind: 'user', tenant, actor: actorOf(claims, issuer), issuer: issuer.issuer, claims, email, ...bound };
}

/**
 * Whether a client got the token for itself. Only the mark that the issuer is said to make counts: in another issuer's
 * tokens the same claim may hold what a user chose.
 */
function isClient(claims: Claims, { clients, clientMatch }: IssuerConfig): boolean {
  switch (clients) {
    case 'auth0':
      // A user's sub is CONNECTION|ID, and in a connection with a database of its own users may choose the ID.
      return claims.gty === 'client-credentials' || /^[^|]+@clients$/.test(claims.sub);
    case 'rfc9068':
      return claims.sub === claims.client_id; // RFC 9068 section 2.2
    case 'keycloak':
      return isServiceAccount(claims);
    case 'claim':
      return clientMatch !== undefined && claimAt(claims, clientMatch.claim) === clientMatch.value;
    default:
      return false;
  }
}

/**
 * Keycloak gives a client that has service accounts the user service-account-CLIENT, in small letters. A user may register
 * under that name of a client that has none; a user's token carries its session, unlike one of client_credentials, which
 * carries client_id (clientId before Keycloak 22).
 */
function isServiceAccount({ azp, preferred_username, client_id, clientId, sid, session_state }: Claims): boolean {
  if (typeof azp !== 'string' || preferred_username !== `service-account-${azp.toLowerCase()}`) return false;
  return (client_id ?? clientId) === azp || (sid === undefined && session_state === undefined);
}

/** Bodies are checked for it, too (http/body.ts): Postgres fails at a NUL, with all questions that are read together. */
function isText(id: string): boolean {
  return id.isWellFormed() && !id.includes('\0');
}

/** Only scopes that this service knows, from `scope` (RFC 9068) or `scp` (Okta: a list, Entra: words). */
function scopesOf(claims: Claims, { clientScopes }: IssuerConfig): ReadonlySet<string> {
  const value = 'scope' in claims || 'scp' in claims ? (claims.scope ?? claims.scp) : clientScopes;
  const words: readonly unknown[] = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : [];
  return new Set(knownScopes.filter((scope) => words.includes(scope)));
}

function actorOf(claims: Claims, issuer: IssuerConfig): Actor {
  const { actorIdClaimPath, actorTypeClaimPath, defaultActorType } = issuer.tokenMapping;
  const value = claimAt(claims, actorIdClaimPath);
  if (typeof value !== 'string' || value === '')
    throw invalidToken('the claim that names the actor is missing or not text');
  const id = `${issuer.actorIdPrefix ?? ''}${value}`;
  if (id.length > limits.subjectCharsMax) throw invalidToken('the actor id is too long');
  // What is recorded of an actor is asked for and erased by the same id: an id that no request could name is none.
  if (wrongId(id) !== undefined) {
    throw invalidToken(
      `the actor id contains a control character, is . or .., or has more than ${limits.entityIdBytesMax} bytes`,
    );
  }
  const ownLength = issuer.actorIdPrefix?.length ?? 0;
  if (issuer.foreignPrefixes.some((prefix) => prefix.length > ownLength && id.startsWith(prefix))) {
    throw invalidToken('the actor id belongs to another issuer');
  }
  const type = actorTypeClaimPath === undefined ? undefined : claimAt(claims, actorTypeClaimPath);
  if (type !== undefined && !isTypeName(type)) {
    throw invalidToken('the claim that names the actor type is not a type name');
  }
  return { type: type ?? defaultActorType, id };
}

/** OpenID Connect Core section 5.1: email_verified is a boolean. A text is a claim that anything may have been written to. */
function verifiedAddress(claims: Claims, { email, emailVerified }: ContactClaims): string | undefined {
  const address = claimAt(claims, email);
  if (typeof address !== 'string' || claimAt(claims, emailVerified) !== true) return undefined;
  const read = comparableAddress(address);
  return read.ok ? read.address : undefined;
}

/** A claim by its name, which may hold dots (`https://a.example/id`), else by a dotted path into nested claims. */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** The thumbprint of the key that a token is bound to by DPoP and by nothing else (RFC 9449 section 6.1). */
function boundTo(cnf: unknown): string | undefined {
  if (typeof cnf !== 'object' || cnf === null || Object.keys(cnf).length !== 1) return undefined;
  const { jkt } = cnf as { jkt?: unknown };
  return typeof jkt === 'string' ? jkt : undefined;
}
