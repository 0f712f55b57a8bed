/** Shapes of the oidc room. */
import { type Static, Type } from 'typebox';
import { Bytes, Instant, Json, Nullable } from '../core/db/rows.ts';
import type { Device } from '../http/device.ts';

/** The kinds of records that oidc-provider keeps. */
export type Model = string;

/** A record as oidc-provider gives and takes it. */
export type Payload = Record<string, unknown> & {
  jti?: string;
  uid?: string;
  userCode?: string;
  grantId?: string;
  accountId?: string;
  clientId?: string;
  /** When the client that it was issued to was registered, ms: one that is registered anew under the id is another client. */
  clientSince?: number;
  consumed?: unknown;
  /** Of a session: when it began, s. */
  loginTs?: number;
  /** Of a session: when it was last written, s, and by which browser. */
  usedAt?: number;
  device?: Device;
};

/** Which record: its id is a hash. */
export type RecordKey = { tenant: string; model: Model; id: Buffer };

export const RecordRow = Type.Object({
  id: Bytes,
  payload: Bytes,
  /** Seconds since the epoch. */
  consumed: Nullable(Type.Integer()),
});
export type RecordRow = Static<typeof RecordRow>;

export const ModelRow = Type.Object({ model: Type.String(), ...RecordRow.properties });

export const SessionRow = Type.Object({ id: Bytes, payload: Bytes, live: Type.Boolean(), ended: Type.Boolean() });
export type SessionRow = Static<typeof SessionRow>;

/** What a person allowed an application: scopes and claims of OpenID Connect, and scopes of resources. */
export type Granted = {
  readonly scopes: readonly string[];
  readonly claims: readonly string[];
  readonly resources: Readonly<Record<string, readonly string[]>>;
};

export const ClientConsentRow = Type.Object({
  client_id: Type.String(),
  granted: Json<Granted>(),
  created_at: Instant,
});
export type ClientConsentRow = Static<typeof ClientConsentRow>;

/** A record of an account. */
export const OwnSessionRow = Type.Object({ id: Bytes, payload: Bytes, uid: Bytes });

/** A record to be stored. */
export type StoredRecord = {
  payload: Buffer;
  grantId: Buffer | null;
  uid: Buffer | null;
  userCode: Buffer | null;
  account: string | null;
  client: string | null;
  expiresAt: string;
};
