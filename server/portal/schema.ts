import { type Static, Type } from 'typebox';
import { Bytes, Instant, Json, Nullable } from '../core/db/rows.ts';
import type { Device } from '../http/device.ts';

export const SessionRow = Type.Object({
  account: Type.String(),
  epoch: Type.Integer(),
  authenticated_at: Instant,
  expires_at: Instant,
  issuer_session: Nullable(Bytes),
});
export type SessionRow = Static<typeof SessionRow>;

/** One that began by signing up, as its person sees it. */
export const OwnSessionRow = Type.Object({ id: Bytes, created_at: Instant, device: Json<Device>() });
export type OwnSessionRow = Static<typeof OwnSessionRow>;

export const LogInLinkRow = Type.Object({ email: Type.String() });
export type LogInLinkRow = Static<typeof LogInLinkRow>;
