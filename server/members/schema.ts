/** Shapes of the members room. */
import { type Static, Type } from 'typebox';
import { bounds, patterns } from '../../crds/index.ts';
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

export const InvitationRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: RoleColumn,
  of_manifest: Type.Boolean(),
  created_at: Instant,
  created_by: Type.String(),
  expires_at: Instant,
  reported_at: Nullable(Instant),
  used_at: Nullable(Instant),
  withdrawn_at: Nullable(Instant),
});
export type InvitationRow = Static<typeof InvitationRow>;

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

const invited = {
  id: Type.String(),
  email: Type.String(),
  role: Type.String(),
  expiresAt: Type.String({ description: 'From then on the link is worth nothing.' }),
};

export const InvitationView = Type.Object({
  ...invited,
  status: Type.Union([
    Type.Literal('pending'),
    Type.Literal('used'),
    Type.Literal('expired'),
    Type.Literal('withdrawn'),
  ]),
  createdAt: Type.String(),
  createdBy: Type.String(),
  usedAt: Type.Optional(Type.String()),
});

export const InvitationCreated = Type.Object({
  ...invited,
  url: Type.String({ description: 'The link, which is shown only now. Whoever opens it first becomes the member.' }),
});

export const InvitationBody = Type.Object(
  {
    email: Type.String({
      minLength: 3,
      maxLength: bounds.emailCharsMax,
      pattern: patterns.email.source,
      description: 'Whom the link is for. Compared in small letters.',
    }),
    role: Type.Enum([...roles], { description: 'The role that the member will have.' }),
  },
  { additionalProperties: false },
);

export const RedeemBody = Type.Object(
  { token: Type.String({ maxLength: 128, description: 'What stands after # in the link.' }) },
  { additionalProperties: false },
);

export const Redeemed = Type.Object({
  tenant: Type.String(),
  email: Type.String(),
  role: Type.String(),
  token: Type.String({ description: 'A portal token of the member, for 24 hours. It is shown only now.' }),
  expiresAt: Type.String(),
});
