/** Which keys of a JWK Set verify access tokens: public signature keys for ES256 and RS256, and nothing else. */
import { type CryptoKey, importJWK, type JWK } from 'jose';
import { limits } from '../limits.ts';
import type { Algorithm } from './schema.ts';

/** Where verification finds an issuer's keys. */
export type KeySource = {
  /** Grows whenever the keys change: a token verified under another version must be verified again. */
  readonly version: number;
  /** The key that a token's header names; without a kid, the only key for the algorithm. */
  find(algorithm: Algorithm, kid: string | undefined): Promise<CryptoKey | undefined>;
  /** What is known of the keys without asking the issuer. */
  known(): KnownKeys;
};

/** `kids`: of the keys that verify; a key without one is ''. `failure`: why they could not be read the last time. */
export type KnownKeys = { kids: readonly string[]; failure?: string };

export type KeySet = {
  /** Equal for sets that hold the same keys. */
  readonly digest: string;
  readonly size: number;
  /** Of its keys; '' for one without. */
  readonly kids: readonly string[];
  pick(algorithm: Algorithm, kid: string | undefined): CryptoKey | undefined;
};

/**
 * Imports the keys of a JWK Set that can verify; others are passed over, as RFC 7517 section 5 asks.
 * @throws Error when it is no JWK Set, or one of more than limits.jwksKeysMax keys
 */
export async function importKeySet(document: unknown): Promise<KeySet> {
  const keys = (document as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys)) throw new Error('not a JWK Set: it has no list of keys');
  if (keys.length > limits.jwksKeysMax)
    throw new Error(`a JWK Set of ${keys.length} keys; ${limits.jwksKeysMax} are allowed`);
  const usable: { algorithm: Algorithm; kid: string | undefined; key: CryptoKey }[] = [];
  const members: JWK[] = [];
  for (const jwk of keys as JWK[]) {
    const algorithm = algorithmOf(jwk);
    const key = algorithm && (await importPublic(jwk, algorithm));
    if (!algorithm || !key) continue;
    const kid = typeof jwk.kid === 'string' ? jwk.kid : undefined;
    usable.push({ algorithm, kid, key });
    members.push({ ...publicMembers(jwk), ...(kid === undefined ? {} : { kid }) });
  }
  return {
    digest: JSON.stringify(members),
    size: usable.length,
    kids: usable.map(({ kid }) => kid ?? ''),
    pick(algorithm, kid) {
      const fitting = usable.filter((one) => one.algorithm === algorithm && (kid === undefined || one.kid === kid));
      return kid !== undefined || fitting.length === 1 ? fitting[0]?.key : undefined;
    },
  };
}

function algorithmOf(jwk: JWK | null): Algorithm | undefined {
  if (typeof jwk !== 'object' || jwk === null) return undefined;
  if (jwk.d !== undefined) return undefined; // a private key that is published signs for anybody
  if (jwk.use !== undefined && jwk.use !== 'sig') return undefined;
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify'))) return undefined;
  const algorithm = jwk.kty === 'EC' && jwk.crv === 'P-256' ? 'ES256' : jwk.kty === 'RSA' ? 'RS256' : undefined;
  return jwk.alg === undefined || jwk.alg === algorithm ? algorithm : undefined;
}

function publicMembers(jwk: JWK): JWK {
  const { kty, crv, x, y, n, e } = jwk;
  return kty === 'EC' ? ({ kty, crv, x, y } as JWK) : ({ kty, n, e } as JWK);
}

async function importPublic(jwk: JWK, algorithm: Algorithm): Promise<CryptoKey | undefined> {
  try {
    const key = (await importJWK(publicMembers(jwk), algorithm)) as CryptoKey;
    return algorithm === 'ES256' || isSoundRsa(key.algorithm as unknown as RsaParameters) ? key : undefined;
  } catch {
    return undefined; // a malformed key verifies nothing; the others still do
  }
}

type RsaParameters = { modulusLength: number; publicExponent: Uint8Array };

/**
 * With the exponent 1 every text is its own signature, and small ones have broken paddings before (NIST SP 800-56B section
 * 6.2 begins at 65537); a verification with one as long as the modulus takes 6.5 ms.
 */
function isSoundRsa({ modulusLength: bits, publicExponent }: RsaParameters): boolean {
  if (bits < limits.rsaModulusBitsMin || bits > limits.rsaModulusBitsMax) return false;
  const exponent = Buffer.from(publicExponent.subarray(publicExponent.findIndex((byte) => byte !== 0)));
  if (exponent.length > limits.rsaExponentBytesMax) return false;
  return exponent.readUIntBE(0, exponent.length) >= limits.rsaExponentMin;
}
