/**
 * The keys of trusted issuers: read by JWKS URI or OIDC discovery through the outbound guard, kept for a bounded
 * time, read again in the background before they are old, and at once (but seldom) when a token names an unknown key.
 */
import type { CryptoKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { limits } from '../limits.ts';
import type { Observe } from '../observe.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { importKeySet, type KeySet, type KeySource, type KnownKeys } from './key-set.ts';
import { authProblem } from './problems.ts';
import type { Algorithm, IssuerConfig } from './schema.ts';

type JwksOptions = {
  outbound: Pick<Outbound, 'fetchJson'>;
  clock: Clock;
  observe: Observe;
  /** Is told of each reading; must not throw. */
  found?: (finding: KeysFinding) => void;
};

type Issuer = Pick<IssuerConfig, 'issuer' | 'jwksUri'>;

/** What a reading of an issuer's keys came to; `error` names the URL, and is null when there are keys that can be used. */
export type KeysFinding = Issuer & { tenant: string; error: string | null };

const bounds = { maxBytes: limits.jwksResponseBytesMax, timeoutMs: limits.outboundTimeoutMs };

export class JwksCache {
  readonly #options: JwksOptions;
  readonly #sources = new LRUCache<string, JwksSource>({ max: limits.jwksSourcesMax });

  constructor(options: JwksOptions) {
    this.#options = options;
  }

  /** The keys of an issuer as one tenant configured it. Nothing is fetched before a token asks. */
  source(tenant: string, issuer: Issuer): KeySource {
    return this.#sourceOf(tenant, issuer);
  }

  /** Reads the keys without a token, where that was not done lately, and tells `found` what came of it. */
  look(tenant: string, issuer: Issuer): Promise<void> {
    return this.#sourceOf(tenant, issuer).look();
  }

  #sourceOf(tenant: string, issuer: Issuer): JwksSource {
    const id = `${tenant} ${issuer.issuer} ${issuer.jwksUri ?? ''}`;
    let source = this.#sources.get(id);
    if (source === undefined) {
      source = new JwksSource(tenant, issuer, this.#options);
      this.#sources.set(id, source);
    }
    return source;
  }
}

class JwksSource implements KeySource {
  version = 0;
  readonly #tenant: string;
  readonly #issuer: Issuer;
  readonly #options: JwksOptions;
  #keys: KeySet | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #soughtAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** Where the keys, or the document that says where they are, were asked for last. */
  #url = '';
  /** Why the last reading failed. */
  #failure: string | undefined;

  constructor(tenant: string, issuer: Issuer, options: JwksOptions) {
    this.#tenant = tenant;
    this.#issuer = issuer;
    this.#options = options;
  }

  /** @throws Problem issuer_unavailable when there are no keys, or only keys that have not been confirmed for too long */
  async find(algorithm: Algorithm, kid: string | undefined): Promise<CryptoKey | undefined> {
    const readBefore = this.#readAt;
    if (this.#ageMs() >= limits.jwksMaxAgeMs) await this.#readUnlessJustFailed();
    else if (this.#ageMs() >= limits.jwksRefreshAfterMs) void this.#readUnlessJustFailed();
    if (this.#keys === undefined || this.#ageMs() >= limits.jwksStaleMaxMs) {
      throw authProblem('issuer_unavailable');
    }
    const key = this.#keys.pick(algorithm, kid);
    if (key !== undefined || this.#readAt !== readBefore) return key;
    // Anybody can make up a kid: one that is unknown costs the issuer one request a cooldown, whoever sends how many.
    const now = this.#options.clock.monotonic();
    if (now - this.#soughtAt < limits.jwksCooldownMs)
      return this.#reading?.then(() => this.#keys?.pick(algorithm, kid));
    this.#soughtAt = now;
    await this.#read();
    return this.#keys.pick(algorithm, kid);
  }

  known(): KnownKeys {
    const kids = this.#keys?.kids ?? [];
    return this.#failure === undefined ? { kids } : { kids, failure: this.#failure };
  }

  async look(): Promise<void> {
    if (this.#keys !== undefined && this.#ageMs() < limits.jwksRefreshAfterMs) this.#tell(this.#keys);
    else await this.#readUnlessJustFailed();
  }

  #tell(found: KeySet | Error): void {
    const { issuer, jwksUri } = this.#issuer;
    const about = { tenant: this.#tenant, issuer, ...(jwksUri === undefined ? {} : { jwksUri }) };
    this.#options.found?.({ ...about, error: found instanceof Error ? found.message : emptiness(found, this.#url) });
  }

  #ageMs(): number {
    return this.#options.clock.monotonic() - this.#readAt;
  }

  async #readUnlessJustFailed(): Promise<void> {
    if (this.#options.clock.monotonic() - this.#failedAt >= limits.jwksRetryMs) await this.#read();
  }

  /** One reading at a time; never throws: a failure leaves the keys as they are. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { outbound, clock, observe } = this.#options;
    const askedAt = clock.monotonic();
    const about = { tenant: this.#tenant, issuer: this.#issuer.issuer };
    this.#url = this.#issuer.jwksUri ?? discoveryUrl(this.#issuer.issuer);
    try {
      this.#url = this.#issuer.jwksUri ?? (await discover(outbound, this.#tenant, this.#issuer.issuer));
      const keys = await readKeySet(outbound, this.#tenant, this.#url);
      if (keys.digest !== this.#keys?.digest) this.version++;
      this.#keys = keys;
      this.#readAt = askedAt;
      this.#failedAt = Number.NEGATIVE_INFINITY;
      this.#failure = undefined;
      observe({ kind: 'jwks_fetched', ...about, keys: keys.size, ms: clock.monotonic() - askedAt });
      this.#tell(keys);
    } catch (error) {
      this.#failedAt = clock.monotonic();
      this.#failure = (error as Error).message;
      observe({ kind: 'jwks_failed', ...about, url: this.#url, error });
      this.#tell(error as Error);
    }
  }
}

/** Not a failure of the reading: the keys that were there before are gone as well. */
function emptiness(keys: KeySet, url: string): string | null {
  return keys.size > 0 ? null : `${url}: contains no key that can verify ES256 or RS256`;
}

async function readKeySet(outbound: JwksOptions['outbound'], tenant: string, url: string): Promise<KeySet> {
  const document = await outbound.fetchJson(url, { tenant, ...bounds });
  return importKeySet(document).catch((cause) => {
    throw new Error(`${url}: ${(cause as Error).message}`, { cause });
  });
}

function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** OpenID Connect Discovery 1.0 section 4: the document must be about exactly the issuer that was asked for. */
async function discover(outbound: JwksOptions['outbound'], tenant: string, issuer: string): Promise<string> {
  const url = discoveryUrl(issuer);
  const document = (await outbound.fetchJson(url, { tenant, ...bounds })) as {
    issuer?: unknown;
    jwks_uri?: unknown;
  } | null;
  if (document?.issuer !== issuer)
    throw new Error(`${url}: describes the issuer ${String(document?.issuer)}, not ${issuer}`);
  if (typeof document.jwks_uri !== 'string') throw new Error(`${url}: has no jwks_uri`);
  return document.jwks_uri;
}
