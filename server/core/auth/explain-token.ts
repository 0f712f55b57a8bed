/**
 * Why an access token is accepted or refused, check by check: what verifyAccessToken says of it, with what each check compared.
 * The token is neither kept nor remembered as verified.
 */
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import { Problem } from '../problems.ts';
import {
  issuerOf,
  keysOf,
  type TokenStep,
  tokenSteps,
  type VerifyServices,
  verifyAccessToken,
} from './access-token.ts';
import { type Claims, callerOf, claimAt, claimChecks, claimSteps } from './claims.ts';
import type { Caller, IssuerConfig, TenantAuth } from './schema.ts';

export type ExplainedStep = {
  step: TokenStep;
  /** skipped: a check before it failed, and this one says nothing without it. */
  result: 'passed' | 'failed' | 'skipped';
  /** Why it failed, as the answer to a request with this token says it. */
  detail?: string;
  /** What of the token the check looked at, by name. */
  found: Record<string, unknown>;
  /** What would pass. */
  accepted?: readonly string[];
};

export type ExplainedToken = {
  /** Whether a request with this token is authenticated now. */
  accepted: boolean;
  /** The issuer that the token names, when the tenant trusts it. */
  issuer: IssuerConfig | undefined;
  steps: ExplainedStep[];
  caller: Caller | undefined;
};

/** Of a token that can be read, or of one that cannot. */
type Read = { header: Record<string, unknown>; payload: JWTPayload };
const unreadable: Read = { header: {}, payload: {} };

export async function explainToken(services: VerifyServices, token: string, auth: TenantAuth): Promise<ExplainedToken> {
  const passed = new Set<TokenStep>();
  let caller: Caller | undefined;
  let refusal: Problem | undefined;
  try {
    ({ caller } = await verifyAccessToken(services, token, auth, (step) => passed.add(step)));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    refusal = error;
  }
  const read = passed.has('format') ? readOf(token) : unreadable;
  const issuer = issuerOf(read.payload, auth);
  const failed = refusal && tokenSteps.find((step) => !passed.has(step));
  const of = { services, token, auth, issuer, ...read };
  const steps = tokenSteps
    // Only tokens of the tenant's own issuer are revoked here.
    .filter((step) => step !== 'revocation' || issuer === undefined || issuer === auth.own)
    .map((step): ExplainedStep => {
      const seen = { step, ...lookedAt(step, of) };
      if (passed.has(step)) return { ...seen, result: 'passed' };
      if (step === failed) return { ...seen, result: 'failed', detail: refusal?.message ?? '' };
      return { ...seen, ...(passed.has('signature') ? laterCheck(step, of) : { result: 'skipped' }) };
    });
  return { accepted: refusal === undefined, issuer, steps, caller };
}

function readOf(token: string): Read {
  return { header: { ...decodeProtectedHeader(token) }, payload: decodeJwt(token) };
}

type Of = Read & {
  services: VerifyServices;
  token: string;
  auth: TenantAuth;
  issuer: IssuerConfig | undefined;
};

/** Whoever mends the claim that was refused wants to know of the others, too. Only after the signature has been verified. */
function laterCheck(step: TokenStep, of: Of): Pick<ExplainedStep, 'result' | 'detail'> {
  const { issuer, payload, services, auth } = of;
  const check = claimSteps.find((one) => one === step);
  try {
    if (issuer === undefined) return { result: 'skipped' };
    if (check !== undefined) claimChecks[check](payload, issuer, services.clock.now());
    // Without a subject there is nobody whom a caller could be.
    else if (step === 'caller' && typeof payload.sub === 'string') callerOf(payload as Claims, auth.tenant, issuer);
    else return { result: 'skipped' };
    return { result: 'passed' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { result: 'failed', detail: error.message };
  }
}

const pick = (from: Record<string, unknown>, ...names: string[]) =>
  Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));

/** What a check compares. Of the keys only what the issuer publishes. */
function lookedAt(step: TokenStep, of: Of): Pick<ExplainedStep, 'found' | 'accepted'> {
  const { services, token, auth, issuer, header, payload } = of;
  switch (step) {
    case 'format':
      return { found: { characters: token.length, parts: token.split('.').length } };
    case 'type':
      return { found: pick(header, 'typ') };
    case 'issuer':
      return { found: pick(payload, 'iss'), accepted: [...auth.issuers.keys(), auth.own.issuer] };
    case 'algorithm':
      return { found: pick(header, 'alg'), ...(issuer === undefined ? {} : { accepted: issuer.algorithms }) };
    case 'key': {
      if (issuer === undefined) return { found: pick(header, 'kid') };
      const { kids, failure } = keysOf(services, issuer, auth).known();
      return { found: { ...pick(header, 'kid'), ...(failure === undefined ? {} : { failure }) }, accepted: kids };
    }
    case 'times':
      return { found: { ...pick(payload, 'exp', 'nbf', 'iat'), now: Math.floor(services.clock.now() / 1000) } };
    case 'audience':
      return { found: pick(payload, 'aud'), ...(issuer === undefined ? {} : { accepted: issuer.audiences }) };
    case 'subject':
      return { found: pick(payload, 'sub') };
    case 'binding':
      return { found: pick(payload, 'cnf') };
    case 'caller':
      return { found: callerClaims(payload, issuer) };
    default:
      return { found: {} };
  }
}

/** The claims that say who calls, by the paths that the issuer's settings name. */
function callerClaims(payload: JWTPayload, issuer: IssuerConfig | undefined): Record<string, unknown> {
  if (issuer === undefined) return {};
  const { actorIdClaimPath, actorTypeClaimPath } = issuer.tokenMapping;
  const { email, emailVerified } = issuer.contactClaims;
  const paths = [actorIdClaimPath, actorTypeClaimPath, issuer.clientMatch?.claim, email, emailVerified, 'scope', 'scp'];
  const values = paths.map((path) => [path, path === undefined ? undefined : claimAt(payload, path)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
