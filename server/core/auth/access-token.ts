/**
 * Verifying access tokens: of the tenant's own issuer, whose keys are at hand, and of the issuers that it trusts.
 * Everything that is not plainly right is refused, and the refusal never says which keys there are.
 */
import { compactVerify, decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import type { Clock } from '../clock.ts';
import { limits } from '../limits.ts';
import { callerOf, checkClaims, claimSteps, isDenied, type RevocableClaims } from './claims.ts';
import { isCompactJws } from './compact.ts';
import type { JwksCache } from './jwks.ts';
import { importKeySet, type KeySet, type KeySource } from './key-set.ts';
import { invalidToken } from './problems.ts';
import { type Algorithm, algorithms, type Caller, type IssuerConfig, type OwnKey, type TenantAuth } from './schema.ts';
import { notAccessToken, notJwt } from './token-kind.ts';

export type VerifyServices = { jwks: Pick<JwksCache, 'source'>; clock: Clock };

/**
 * A caller, until when the token is good (milliseconds), and the keys and their version that vouched for it. `revocable`: of
 * the tenant's own issuer.
 */
export type Verified = {
  caller: Caller;
  expiresAtMs: number;
  keys: KeySource;
  keysVersion: number;
  revocable?: RevocableClaims;
};

// Portal tokens, invitations and receipts carry other types: no endpoint takes another's kind of token.
const types = new Set(['at+jwt', 'application/at+jwt', 'jwt']);
/** RFC 9068 section 2.1. An ID token carries none or JWT, and is signed by our keys as well. */
const ownTypes = new Set(['at+jwt', 'application/at+jwt']);

/** What a token is checked for, in this order. */
export const tokenSteps = [
  ...(['format', 'type', 'issuer', 'algorithm', 'key', 'signature'] as const),
  ...claimSteps,
  ...(['revocation', 'caller'] as const),
] as const;
export type TokenStep = (typeof tokenSteps)[number];

/**
 * Verifies an access token for a tenant.
 * @param passed is told of each check that the token passes; the one after the last failed when this throws
 * @throws Problem unauthenticated (with WWW-Authenticate), issuer_unavailable
 */
export async function verifyAccessToken(
  services: VerifyServices,
  token: string,
  auth: TenantAuth,
  passed?: (step: TokenStep) => void,
): Promise<Verified> {
  const { header, payload } = decode(token);
  passed?.('format');
  const isOwn = payload.iss === auth.own.issuer;
  if (!isAccessTokenType(header.typ, isOwn)) throw invalidToken(notAccessToken(header.typ, isOwn));
  passed?.('type');
  const issuer = issuerOf(payload, auth);
  if (issuer === undefined) throw invalidToken('the issuer is not trusted');
  passed?.('issuer');
  const algorithm = acceptedAlgorithm(header, issuer);
  passed?.('algorithm');
  const keys = keysOf(services, issuer, auth);
  const key = await keys.find(algorithm, header.kid);
  const keysVersion = keys.version;
  if (key === undefined) throw invalidToken('no key of the issuer verifies the signature');
  passed?.('key');
  const verified = await compactVerify(token, key, { algorithms: [algorithm] }).catch(() => {
    throw invalidToken('no key of the issuer verifies the signature');
  });
  passed?.('signature');
  const signed = JSON.parse(new TextDecoder().decode(verified.payload));
  const claims = checkClaims(signed, issuer, services.clock.now(), passed);
  if (isOwn && isDenied(claims, auth.denied)) throw invalidToken('the token was revoked');
  passed?.('revocation');
  const caller = callerOf(claims, auth.tenant, issuer);
  passed?.('caller');
  const verifiedToken = { caller, expiresAtMs: claims.exp * 1000, keys, keysVersion };
  if (!isOwn) return verifiedToken;
  const { sub, client_id, jti, iat } = claims;
  return { ...verifiedToken, revocable: { sub, client_id, jti, iat } };
}

/** The issuer that a token names, when the tenant trusts it. */
export function issuerOf({ iss }: JWTPayload, auth: TenantAuth): IssuerConfig | undefined {
  if (iss === auth.own.issuer) return auth.own;
  return typeof iss === 'string' ? auth.issuers.get(iss) : undefined;
}

/** Where the keys of an issuer of the tenant are found. */
export function keysOf({ jwks, clock }: VerifyServices, issuer: IssuerConfig, auth: TenantAuth): KeySource {
  return issuer === auth.own ? ownKeySource(auth.ownKeys, clock) : jwks.source(auth.tenant, issuer);
}

function decode(token: string): { header: ProtectedHeaderParameters; payload: JWTPayload } {
  if (token.length > limits.tokenBytesMax) throw invalidToken('the token is too long');
  if (!isCompactJws(token)) throw invalidToken(notJwt(token) ?? 'the token is malformed');
  let header: ProtectedHeaderParameters;
  let payload: JWTPayload;
  try {
    header = decodeProtectedHeader(token);
    payload = decodeJwt(token);
  } catch {
    throw invalidToken('the token is malformed');
  }
  // RFC 7515 section 4.1.11: no extension is understood here. With b64 (RFC 7797) the payload would not be what decodes.
  if ('crit' in header || 'b64' in header) throw invalidToken('the token has a critical header');
  return { header, payload };
}

/** RFC 7515 section 4.1.9: a string, in any case. The header is not verified yet and may hold anything. */
function isAccessTokenType(typ: unknown, isOwn: boolean): boolean {
  if (typ === undefined) return !isOwn;
  return typeof typ === 'string' && (isOwn ? ownTypes : types).has(typ.toLowerCase());
}

function acceptedAlgorithm(header: ProtectedHeaderParameters, issuer: IssuerConfig): Algorithm {
  const algorithm = algorithms.find((one) => one === header.alg);
  if (algorithm === undefined || !issuer.algorithms.includes(algorithm))
    throw invalidToken('the signature algorithm is not accepted');
  if (header.kid !== undefined && typeof header.kid !== 'string') throw invalidToken('the token is malformed');
  return algorithm;
}

const ownSources = new WeakMap<readonly OwnKey[], KeySource>();

/** The tenant's own keys as a source. They belong to a TenantAuth and never change: a new key makes a new TenantAuth. */
function ownKeySource(keys: readonly OwnKey[], clock: Clock): KeySource {
  let source = ownSources.get(keys);
  if (source === undefined) {
    let imported: Promise<KeySet> | undefined;
    const isLive = ({ retiresAtMs }: OwnKey) => (retiresAtMs ?? Number.POSITIVE_INFINITY) > clock.now();
    source = {
      version: 0,
      async find(algorithm, kid) {
        const key = keys.find((one) => one.jwk.kid === kid);
        if (kid === undefined || key === undefined || !isLive(key)) return undefined;
        imported ??= importKeySet({ keys: keys.map((one) => one.jwk) });
        return (await imported).pick(algorithm, kid);
      },
      known: () => ({ kids: keys.filter(isLive).map(({ jwk }) => jwk.kid ?? '') }),
    };
    ownSources.set(keys, source);
  }
  return source;
}
