/**
 * A tenant as a client of another issuer: authorization code with PKCE, state and nonce (OpenID Connect Core section 3.1), the check of
 * `iss` (RFC 9207), and the signature of the ID token. All requests go through the guard of outgoing requests.
 */

import { LRUCache } from 'lru-cache';
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import type { Upstream } from '../accounts/index.ts';
import { claimAt } from '../core/auth/claims.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { networkOf } from '../core/outbound/addresses.ts';
import type { Outbound } from '../core/outbound/outbound.ts';
import { isText } from '../core/text.ts';
import { loginSecretName } from '../issuers/index.ts';
import { readTenantSecret } from '../tenants/index.ts';
import { fetchThrough } from './outgoing.ts';
import type { LogInIssuer } from './upstream-issuers.ts';

declare module '../core/observe.ts' {
  interface RoomObservations {
    /** Somebody could not log in by another issuer. `reason` is for whoever set the issuer up. */
    upstream_log_in_failed: { tenant: string; issuer: string; failure: UpstreamFailure; reason: string };
  }
}

/**
 * `unavailable`: the issuer does not answer, or not as it should. `cancelled`: the person did not log in there. `stale`: it did
 * not log the person in anew. `refused`: what came back is not what was asked for.
 */
export type UpstreamFailure = 'unavailable' | 'cancelled' | 'stale' | 'refused';

export class UpstreamError extends Error {
  readonly failure: UpstreamFailure;
  constructor(failure: UpstreamFailure, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.failure = failure;
  }
}

type UpstreamServices = {
  outbound: Outbound;
  database: Database;
  encrypter: Encrypter;
  clock: Clock;
  observe: Observe;
  baseUrl: string;
};

/** What is kept of a log-in until the browser is back. */
export type UpstreamChecks = {
  state: string;
  nonce: string;
  verifier: string;
  beganAtMs: number;
  /** The issuer must have asked the person since. */
  isFresh: boolean;
};

/** Who somebody is at the issuer; `authenticatedAt`: seconds, where the issuer says it. */
export type UpstreamPerson = { identity: Upstream; authenticatedAt?: number };

/** Loaded when somebody first logs in by another issuer. */
const load = () => import('openid-client');
type Library = Awaited<ReturnType<typeof load>>;

/** The tenant that asks, and the address of the browser that it asks for. */
type Asker = { tenant: string; ip: string };

type Known = { metadata: ServerMetadata; untilMs: number };

export class UpstreamClient {
  readonly #services: UpstreamServices;
  readonly #known = new LRUCache<string, Known>({ max: limits.oidcProvidersMax });
  /** By tenant, and by tenant and network. */
  readonly #waiting = new Map<string, number>();

  constructor(services: UpstreamServices) {
    this.#services = services;
  }

  /** Below {base}: one for each issuer, so that an answer of one is not taken for another's. */
  callbackOf(tenant: string, { name }: Pick<LogInIssuer, 'name'>): string {
    return `${this.#services.baseUrl}/${tenant}/oidc/upstream/${name}/callback`;
  }

  /** Where the person logs in, and what to keep until it is back. @throws UpstreamError */
  begin(asker: Asker, issuer: LogInIssuer, isFresh: boolean): Promise<{ url: string; checks: UpstreamChecks }> {
    const { tenant } = asker;
    return this.#asking(asker, issuer, async (lib, config) => {
      const [state, nonce, verifier] = [lib.randomState(), lib.randomNonce(), lib.randomPKCECodeVerifier()];
      const url = lib.buildAuthorizationUrl(config, {
        redirect_uri: this.callbackOf(tenant, issuer),
        scope: issuer.login.scopes.join(' '),
        ...{ state, nonce, code_challenge_method: 'S256' },
        code_challenge: await lib.calculatePKCECodeChallenge(verifier),
        ...(isFresh ? { prompt: 'login', max_age: '0' } : {}),
      });
      const isSecure = url.protocol === 'https:' || (url.protocol === 'http:' && issuer.issuer.startsWith('http:'));
      if (!isSecure) throw new UpstreamError('unavailable', `authorization_endpoint must be https: ${url.origin}`);
      return { url: url.href, checks: { state, nonce, verifier, isFresh, beganAtMs: this.#services.clock.now() } };
    });
  }

  /**
   * Exchanges what the browser brought back, once.
   * @param query of the callback, as it came
   * @throws UpstreamError
   */
  complete(asker: Asker, issuer: LogInIssuer, checks: UpstreamChecks, query: string): Promise<UpstreamPerson> {
    const { tenant } = asker;
    return this.#asking(asker, issuer, async (lib, config) => {
      const url = new URL(this.callbackOf(tenant, issuer));
      url.search = query;
      const tokens = await lib.authorizationCodeGrant(config, url, {
        ...{ pkceCodeVerifier: checks.verifier, expectedState: checks.state, expectedNonce: checks.nonce },
        idTokenExpected: true,
      });
      const idToken = tokens.claims() as Readonly<Record<string, unknown>> & { sub: string };
      const { sub, auth_time: authTime } = idToken;
      if (sub.length > limits.subjectCharsMax || !isText(sub))
        throw new UpstreamError('refused', 'sub is no identifier');
      const authenticatedAt =
        typeof authTime === 'number' && Number.isFinite(authTime) ? Math.floor(authTime) : undefined;
      if (checks.isFresh && (authenticatedAt ?? 0) * 1000 < checks.beganAtMs - limits.clockToleranceMs)
        throw new UpstreamError('stale', 'auth_time does not say that the person was asked since the log-in began');
      const { email: emailClaim } = issuer.contactClaims;
      const asksMore = claimAt(idToken, emailClaim) === undefined && config.serverMetadata().userinfo_endpoint;
      const more = asksMore ? await lib.fetchUserInfo(config, tokens.access_token, sub) : {};
      const identity = identityOf(issuer, { ...more, ...idToken });
      return { identity, ...(authenticatedAt === undefined ? {} : { authenticatedAt }) };
    });
  }

  async #asking<T>(
    asker: Asker,
    issuer: LogInIssuer,
    work: (lib: Library, config: Configuration) => Promise<T>,
  ): Promise<T> {
    const { tenant } = asker;
    try {
      const leave = this.#enter(asker);
      try {
        const lib = await load();
        return await work(lib, await this.#configuration(lib, tenant, issuer));
      } catch (error) {
        const known = upstreamErrorOf(error);
        // What the issuer said of itself may have changed. What a browser brought back, anybody can make up.
        if (known.failure === 'unavailable') this.#known.delete(keyOf(tenant, issuer));
        throw known;
      } finally {
        leave();
      }
    } catch (error) {
      const { failure, message: reason } = error as UpstreamError;
      this.#services.observe({ kind: 'upstream_log_in_failed', tenant, issuer: issuer.issuer, failure, reason });
      throw error;
    }
  }

  /** Takes a place among those that wait. @returns gives it back @throws UpstreamError */
  #enter({ tenant, ip }: Asker): () => void {
    const network = `${tenant} ${networkOf(ip)}`;
    const count = (key: string) => this.#waiting.get(key) ?? 0;
    if (count(tenant) >= limits.upstreamAtOncePerTenantMax) throw new UpstreamError('unavailable', 'too many at once');
    if (count(network) >= limits.upstreamAtOncePerNetworkMax)
      throw new UpstreamError('unavailable', 'too many at once of one network');
    for (const key of [tenant, network]) this.#waiting.set(key, count(key) + 1);
    return () => {
      for (const key of [tenant, network])
        if (count(key) === 1) this.#waiting.delete(key);
        else this.#waiting.set(key, count(key) - 1);
    };
  }

  async #configuration(lib: Library, tenant: string, issuer: LogInIssuer): Promise<Configuration> {
    const { outbound, clock } = this.#services;
    const untilMs = clock.monotonic() + limits.upstreamMsMax;
    const ask = fetchThrough(outbound, tenant, () => ({
      maxBytes: limits.upstreamBytesMax,
      timeoutMs: Math.max(1, Math.ceil(untilMs - clock.monotonic())),
    })) as unknown as CustomFetch;
    const { clientId } = issuer.login;
    const isPlain = issuer.issuer.startsWith('http:'); // of a loopback host: the guard sees to that
    const execute = isPlain ? [lib.allowInsecureRequests] : [];
    const secret = await this.#secret(tenant, issuer);
    let known = this.#known.get(keyOf(tenant, issuer));
    if (known === undefined || known.untilMs <= clock.now()) {
      const url = new URL(issuer.issuer);
      const found = await lib.discovery(url, clientId, undefined, lib.None(), { execute, [lib.customFetch]: ask });
      known = { metadata: { ...found.serverMetadata() }, untilMs: clock.now() + limits.jwksMaxAgeMs };
      this.#known.set(keyOf(tenant, issuer), known);
    }
    const metadata = metadataFor(issuer, known.metadata);
    const authentication = authenticationOf(lib, metadata, secret);
    const options = { [lib.clockTolerance]: limits.clockToleranceMs / 1000 };
    const config = new lib.Configuration(metadata, clientId, options, authentication);
    config[lib.customFetch] = ask;
    // Keys are read at each log-in: one that was rotated away verifies nothing, and a new one is known at once.
    lib.enableNonRepudiationChecks(config);
    for (const option of execute) option(config);
    return config;
  }

  async #secret(tenant: string, { name, login }: LogInIssuer): Promise<string | undefined> {
    if (login.secretRef === undefined) return undefined;
    const { database, encrypter } = this.#services;
    const found = await database.read(tenant, (tx) => readTenantSecret(encrypter, tx, tenant, loginSecretName(name)));
    const secret = found?.client_secret;
    if (secret === undefined) throw new UpstreamError('unavailable', `the Secret ${login.secretRef.name} was not read`);
    return secret;
  }
}

/** Other settings of the issuer are another entry. */
const keyOf = (tenant: string, { issuer, jwksUri = '' }: LogInIssuer) => JSON.stringify([tenant, issuer, jwksUri]);

/** @throws UpstreamError */
function metadataFor(issuer: LogInIssuer, found: ServerMetadata): ServerMetadata {
  // The identity is (iss, sub): another spelling of the issuer would be another identity.
  if (found.issuer !== issuer.issuer)
    throw new UpstreamError('unavailable', `the discovery document is of ${found.issuer}`);
  const offered = found.id_token_signing_alg_values_supported ?? ['RS256'];
  const algorithms = issuer.algorithms.filter((one) => offered.includes(one));
  if (algorithms.length === 0)
    throw new UpstreamError('unavailable', `ID tokens are signed by none of ${issuer.algorithms.join(', ')}`);
  return {
    ...found,
    id_token_signing_alg_values_supported: algorithms,
    ...(issuer.jwksUri === undefined ? {} : { jwks_uri: issuer.jwksUri }),
  };
}

function authenticationOf(lib: Library, metadata: ServerMetadata, secret: string | undefined) {
  if (secret === undefined) return lib.None();
  // OpenID Connect Discovery section 3: the default is client_secret_basic.
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') ? lib.ClientSecretBasic(secret) : lib.ClientSecretPost(secret);
}

function identityOf(issuer: LogInIssuer, claims: Readonly<Record<string, unknown>> & { sub: string }): Upstream {
  const { contactClaims } = issuer;
  const email = claimAt(claims, contactClaims.email);
  const { name, locale } = claims;
  return {
    ...{ issuer: issuer.issuer, subject: claims.sub },
    ...(typeof email === 'string' ? { email } : {}),
    emailVerified: claimAt(claims, contactClaims.emailVerified) === true,
    ...(typeof name === 'string' ? { displayName: name } : {}),
    ...(typeof locale === 'string' ? { language: locale } : {}),
  };
}

/** Errors of the library, by their codes (openid-client `ClientError`), and of its answers. */
function upstreamErrorOf(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const { name, message, code, error: answered, cause } = error as Error & { code?: string; error?: string };
  const reason = [message, answered, (cause as Error | undefined)?.message].filter(Boolean).join(': ');
  const options = { cause: error };
  if (name === 'AuthorizationResponseError')
    return new UpstreamError(answered === 'access_denied' ? 'cancelled' : 'refused', reason, options);
  // RFC 6749 section 5.2: of a code that was used or made up, or is no code at all.
  const isOfCode = answered === 'invalid_grant' || answered === 'invalid_request';
  const isOfAnswer = isOfCode || (code !== undefined && checked.has(code));
  return new UpstreamError(isOfAnswer ? 'refused' : 'unavailable', reason, options);
}

/** What came back was refused by a check; otherwise the issuer could not be asked. */
const checked = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JWT_USERINFO_EXPECTED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
]);
