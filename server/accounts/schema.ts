/** Shapes of the accounts room. */
import { type Static, Type } from 'typebox';
import { Bytes, Instant, Json, Nullable } from '../core/db/rows.ts';

/** An end user of a tenant, who logs in at its own issuer. */
export type Account = {
  /** A UUID: the id of the actor, whose type is the tenant's default. */
  readonly id: string;
  /** As addresses are compared. */
  readonly email: string;
  readonly emailVerified: boolean;
  readonly displayName?: string;
  /** BCP 47. */
  readonly language?: string;
  readonly enabled: boolean;
  readonly hasPassword: boolean;
  /** What began under an earlier one (a log-in, a session) is over. */
  readonly epoch: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

export const AccountView = Type.Object({
  id: Type.String(),
  email: Type.String({ description: 'Masked for the support desk, as is the id.' }),
  emailVerified: Type.Boolean(),
  displayName: Type.Optional(Type.String()),
  language: Type.Optional(Type.String()),
  enabled: Type.Boolean(),
  hasPassword: Type.Boolean(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});
export type AccountView = Static<typeof AccountView>;

/** The body of PUT C/accounts/{id}. */
export const AccountBody = Type.Object(
  { enabled: Type.Boolean({ description: 'Whether the person can log in.' }) },
  { additionalProperties: false },
);

export const AccountRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean(),
  display_name: Nullable(Type.String()),
  language: Nullable(Type.String()),
  enabled: Type.Boolean(),
  password_encrypted: Nullable(Bytes),
  epoch: Type.Integer(),
  created_at: Instant,
  updated_at: Instant,
});
export type AccountRow = Static<typeof AccountRow>;

export type NewAccount = Pick<
  AccountRow,
  'id' | 'email' | 'email_verified' | 'display_name' | 'language' | 'password_encrypted'
>;

export type TokenPurpose = 'sign_up' | 'reset_password' | 'link_identity';
export const TokenRow = Type.Object({
  purpose: Type.Unsafe<TokenPurpose>(Type.String()),
  account: Nullable(Type.String()),
  email: Type.String(),
  epoch: Nullable(Type.Integer()),
  content_encrypted: Nullable(Bytes),
  expires_at: Instant,
});
export type TokenRow = Static<typeof TokenRow>;

export type AttemptKind = 'account' | 'network' | 'mail' | 'mail_network';
export const AttemptRow = Type.Object({ failures: Type.Integer(), counted_at: Instant, blocked_until: Instant });
export type AttemptRow = Static<typeof AttemptRow>;

export const CredentialRow = Type.Object({
  id: Type.String(),
  account: Type.String(),
  name: Type.String(),
  public_key: Bytes,
  counter: Type.Integer(),
  transports: Json<string[]>(),
  backed_up: Type.Boolean(),
  created_at: Instant,
  used_at: Nullable(Instant),
});
export type CredentialRow = Static<typeof CredentialRow>;

export const IdentityRow = Type.Object({
  issuer: Type.String(),
  subject: Type.String(),
  account: Type.String(),
  created_at: Instant,
});
export type IdentityRow = Static<typeof IdentityRow>;
