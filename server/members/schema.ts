/** Shapes of the members room. */
import { type Static, Type } from 'typebox';
import { type Role, roles } from '../core/auth/schema.ts';
import { Instant, Nullable } from '../core/db/rows.ts';

const RoleColumn = Type.Unsafe<Role>(Type.Union(roles.map((role) => Type.Literal(role))));

export const MemberRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: RoleColumn,
  created_at: Instant,
});
export type MemberRow = Static<typeof MemberRow>;

export const PortalTokenRow = Type.Object({
  jti: Type.String(),
  member: Type.String(),
  email: Type.String(),
  role: RoleColumn,
  created_at: Instant,
  expires_at: Instant,
  revoked_at: Nullable(Instant),
});
export type PortalTokenRow = Static<typeof PortalTokenRow>;

export const MemberView = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: Type.String(),
  createdAt: Type.String(),
});

export const PortalTokenView = Type.Object({
  jti: Type.String(),
  member: Type.Object({ id: Type.String(), email: Type.String(), role: Type.String() }),
  createdAt: Type.String(),
  expiresAt: Type.String(),
  revokedAt: Type.Optional(Type.String()),
  current: Type.Boolean({ description: 'Whether it is the token of this request.' }),
});
