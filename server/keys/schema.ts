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

/** What is shown of a key: nothing private. */
export const KeyRow = Type.Object({
  kid: Type.String(),
  purpose: Type.Enum(['access', 'identity', 'invitation', 'receipt', 'checkpoint']),
  algorithm: AlgorithmColumn,
  created_at: Instant,
  activates_at: Instant,
  retires_at: Nullable(Instant),
});
export type KeyRow = Static<typeof KeyRow>;

export const KeyView = Type.Object({
  kid: Type.String({ description: 'Its id in the JWKS.' }),
  purpose: Type.Enum(['access', 'identity', 'invitation', 'receipt', 'checkpoint'], {
    description:
      'What it signs: access tokens, ID tokens, requestTokens of invitations, receipts of consents, checkpoints of the ledger.',
  }),
  algorithm: Type.Enum(['ES256', 'RS256']),
  state: Type.Enum(['published', 'active', 'retired'], {
    description:
      'published: in the JWKS, and signs from activatesAt on. active: signs. retired: signs no more, and verifies until verifiesUntil.',
  }),
  createdAt: Type.String({ format: 'date-time' }),
  activatesAt: Type.String({ format: 'date-time' }),
  verifiesUntil: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When it is not published any more; absent while no key follows it.',
    }),
  ),
  rotatesAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'From when on the schedule makes the next key; absent for keys that are not rotated by schedule.',
    }),
  ),
});
export type KeyView = Static<typeof KeyView>;

export const KeysView = Type.Object(
  { keys: Type.Array(KeyView) },
  {
    examples: [
      {
        keys: [
          {
            ...{ kid: 'sPh2ZJbl0xW3', purpose: 'access', algorithm: 'ES256', state: 'published' },
            ...{ createdAt: '2026-11-25T09:30:00.000Z', activatesAt: '2026-11-25T09:45:00.000Z' },
            rotatesAt: '2027-02-23T09:30:00.000Z',
          },
          {
            ...{ kid: 'q8GmVbT1d0aU', purpose: 'access', algorithm: 'ES256', state: 'active' },
            ...{ createdAt: '2026-09-01T08:00:00.000Z', activatesAt: '2026-09-01T08:00:00.000Z' },
            verifiesUntil: '2026-11-26T09:45:00.000Z',
          },
        ],
      },
    ],
  },
);
