import type { CryptoKey, JWK } from 'jose';
import { type Static, Type } from 'typebox';
import type { Algorithm, OwnKey } from '../core/auth/schema.ts';
import { Bytes, Instant, Json, Nullable } from '../core/db/rows.ts';

const AlgorithmColumn = Type.Unsafe<Algorithm>(Type.Union([Type.Literal('ES256'), Type.Literal('RS256')]));

export const EncryptedKeyRow = Type.Object({
  kid: Type.String(),
  algorithm: AlgorithmColumn,
  public_jwk: Json<JWK>(),
  private_key: Bytes,
});
export type EncryptedKeyRow = Static<typeof EncryptedKeyRow>;

/** What signs tokens of the tenant's own issuer: access tokens, and ID tokens with what else OpenID Connect signs. */
export type TokenPurpose = 'access' | 'identity';

export const TokenKeyRow = Type.Object({
  ...EncryptedKeyRow.properties,
  created_at: Instant,
  activates_at: Instant,
  retires_at: Nullable(Instant),
});
export type TokenKeyRow = Static<typeof TokenKeyRow>;

/** A key of tokens, with its private half where it signs or will. */
export type TokenKey = {
  readonly kid: string;
  readonly algorithm: Algorithm;
  readonly publicJwk: JWK;
  readonly privateJwk?: JWK;
  readonly activatesAtMs: number;
  readonly retiresAtMs?: number;
};

/** The keys of a tenant's tokens: the one that signs first, then those that will, then those that only verify. */
export type TokenKeys = {
  readonly keys: readonly TokenKey[];
  /** When another one signs, or one retires (ms); Infinity: not as long as no key is made. */
  readonly changesAtMs: number;
};

export const DeniedTokenRow = Type.Object({
  tenant: Type.String(),
  kind: Type.Enum(['client', 'subject', 'grant', 'erased', 'jti']),
  id: Type.String(),
  issued_until: Nullable(Instant),
  expires_at: Nullable(Instant),
});
export type DeniedTokenRow = Static<typeof DeniedTokenRow>;

export const DatedKeyRow = Type.Object({ ...EncryptedKeyRow.properties, created_at: Instant });
export type DatedKeyRow = Static<typeof DatedKeyRow>;

/** What a key signs that is shown for as long as somebody keeps it: such keys do not retire. */
export type LastingPurpose = 'receipt' | 'checkpoint';

/** The public half of a key that verifies what is not an access token. */
export const VerifyingKeyRow = Type.Object({ public_jwk: Json<JWK>() });
export type VerifyingKey = Static<typeof VerifyingKeyRow>;

export const PublicKeyRow = Type.Object({
  tenant: Type.String(),
  purpose: Type.String(),
  public_jwk: Json<JWK>(),
  retires_at: Nullable(Instant),
});

export type PublicKeyRow = Static<typeof PublicKeyRow>;

/** A public access-token key for the snapshot. */
export type PublicKey = OwnKey & { readonly tenant: string };

/** A private key, opened, for signing now. */
export type SigningKey = { kid: string; algorithm: Algorithm; privateKey: CryptoKey };
