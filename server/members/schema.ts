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

export const MemberInvitationRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: RoleColumn,
  of_manifest: Type.Boolean(),
  created_at: Instant,
  created_by: Type.String(),
  expires_at: Instant,
  delivered_at: Nullable(Instant),
  used_at: Nullable(Instant),
  withdrawn_at: Nullable(Instant),
});
export type MemberInvitationRow = Static<typeof MemberInvitationRow>;

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

export const NewPortalTokenView = Type.Object({
  jti: Type.String(),
  token: Type.String({ description: 'Shown in this answer only.' }),
  expiresAt: Type.String(),
});

const invited = {
  id: Type.String(),
  email: Type.String(),
  role: Type.String(),
  expiresAt: Type.String({ description: 'The link expires at this instant.' }),
};

export const MemberInvitationView = Type.Object({
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

export const MemberInvitationCreated = Type.Object({
  ...invited,
  url: Type.String({ description: 'The link. It is returned only once. Whoever opens it first becomes the member.' }),
});

export const MemberInvitationBody = Type.Object(
  {
    email: Type.String({
      minLength: 3,
      maxLength: bounds.emailCharsMax,
      pattern: patterns.email.source,
      description: 'The email address of the invited person. Compared in lower case.',
    }),
    role: Type.Enum([...roles], { description: 'The role that the member will have.' }),
    language: Type.Optional(
      Type.String({
        pattern: patterns.languageTag.source,
        maxLength: 35,
        description: 'Language of the mail (BCP 47). Default: English.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const RedeemBody = Type.Object(
  { token: Type.String({ maxLength: 128, description: 'The part of the link after #.' }) },
  { additionalProperties: false },
);

export const Redeemed = Type.Object({
  tenant: Type.String(),
  email: Type.String(),
  role: Type.String(),
  token: Type.String({ description: 'A portal token of the member, valid for 24 hours. It is returned only once.' }),
  expiresAt: Type.String(),
});
