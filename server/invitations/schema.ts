/** Shapes of the invitations room: the specification's requests, what is answered, and rows. */
import { type Static, Type } from 'typebox';
import { bounds, patterns } from '../../crds/index.ts';
import { Bytes, Instant, Nullable } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { Entity, FromEntry } from '../relationships/schema.ts';
import { Direction, displayNames } from './sharing-schema.ts';

export const statuses = ['pending', 'accepted', 'declined', 'revoked', 'expired'] as const;
export type Status = (typeof statuses)[number];
export type Delivery = 'mail' | 'event' | 'response';
export type Binding = 'none' | 'contact';
const Binding = (description: string) => Type.Unsafe<Binding>(Type.Enum(['none', 'contact'], { description }));

const invitationActions = ['resend', 'revoke', 'accept', 'decline'] as const;
export type InvitationAction = (typeof invitationActions)[number];

const typeName = Type.String({ minLength: 1, maxLength: limits.typeNameCharsMax });
const instant = (description: string) => Type.String({ format: 'date-time', maxLength: 64, description });
const strict = { additionalProperties: false } as const;

export const InvitationBody = Type.Object(
  {
    relationshipType: typeName,
    to: Entity,
    invitor: Type.Optional(
      Type.Object(Entity.properties, {
        ...strict,
        description: 'The actor who invites. Users can name only themselves and may omit it.',
      }),
    ),
    invitee: Type.Object(
      {
        contact: Type.Object(
          {
            type: Type.String({ pattern: patterns.contactType.source, maxLength: 16 }),
            value: Type.String({ minLength: 3, maxLength: bounds.emailCharsMax }),
          },
          strict,
        ),
        type: Type.Optional(
          Type.String({
            maxLength: limits.typeNameCharsMax,
            description: 'Type of the acceptor, if several relationship types match.',
          }),
        ),
      },
      strict,
    ),
    expiresAt: Type.Optional(
      instant(
        'The invitation can be accepted until this instant, with a precision of seconds. Maximum and default: the ttl of the relationship type from now.',
      ),
    ),
    relationshipExpiresAt: Type.Optional(instant('The created relationship expires at this instant.')),
    maxUses: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: bounds.invitationUsesMax,
        description: 'How many actors can accept it. Maximum and default: maxUses of the relationship type.',
      }),
    ),
    delivery: Type.Optional(
      Type.Unsafe<Delivery>(
        Type.Enum(['mail', 'event', 'response'], {
          description:
            'How the requestToken is delivered. Default: response if the caller may see the token, otherwise mail. mail: a message to the contact with a link to the page where the invitation is accepted. event has no effect yet: it is recorded, but nothing is sent.',
        }),
      ),
    ),
    language: Type.Optional(
      Type.String({
        pattern: patterns.languageTag.source,
        maxLength: 35,
        description: 'Language of the mail (BCP 47).',
      }),
    ),
    redirectUri: Type.Optional(
      Type.String({
        maxLength: bounds.urlCharsMax,
        description: 'One of the redirectUris of the relationship type, exactly.',
      }),
    ),
  },
  strict,
);
export type InvitationBody = Static<typeof InvitationBody>;

const { delivery: _, invitor: __, ...ofMembers } = InvitationBody.properties;
/** What a member sends for an actor: always by mail, because a member is not told the requestToken. */
export const MembersInvitationBody = Type.Object(
  {
    ...ofMembers,
    invitor: Type.Object(Entity.properties, {
      ...strict,
      description: 'The actor for whom the member invites, as whom the invitation stands.',
    }),
    reason: Type.String({
      minLength: 1,
      maxLength: limits.memberReasonCharsMax,
      pattern: patterns.visibleText.source,
      description: 'Why the member invites for the actor, such as the number of a ticket. It stands in the audit.',
    }),
  },
  strict,
);

const requestToken = Type.String({ minLength: 1, maxLength: limits.tokenBytesMax, description: 'The signed token.' });
export const AcceptBody = Type.Object({ acceptor: Entity, requestToken }, strict);
export const TokenBody = Type.Object({ requestToken }, strict);

export const Accepted = Type.Object({
  invitationId: Type.String(),
  status: Type.Literal('accepted'),
  relationship: Type.Object({ from: Entity, ...FromEntry.properties }),
});
export type Accepted = Static<typeof Accepted>;
export const Declined = Type.Object({ invitationId: Type.String(), status: Type.Literal('declined') });

const told = {
  relationshipType: Type.String(),
  direction: Direction,
  to: Entity,
  displayNames,
  expiresAt: Type.String({ format: 'date-time' }),
};
export const Preview = Type.Object({
  ...told,
  binding: Binding('contact: only a user whose access token has the invited address as a verified one may accept it.'),
  invitor: Type.Optional(
    Type.Object(
      {
        displayName: Type.String({
          description: "The invitor's attribute displayName or name, or else the display name of its account.",
        }),
      },
      { description: 'Absent when the tenant has stored no name of the invitor.' },
    ),
  ),
});
export type Preview = Static<typeof Preview>;

export const InvitationView = Type.Object({
  invitationId: Type.String(),
  status: Type.Unsafe<Status>(Type.Enum([...statuses])),
  ...told,
  invitor: Entity,
  invitee: Type.Object({ contact: Type.Object({ type: Type.String(), masked: Type.String() }) }),
  binding: Binding(
    'That of the relationship type when the invitation was made. It stays bound to its contact when the type no longer says so, and is bound by a type that says so since.',
  ),
  createdAt: Type.String({ format: 'date-time' }),
  relationshipExpiresAt: Type.Optional(Type.String({ format: 'date-time' })),
  maxUses: Type.Integer(),
  uses: Type.Integer({ description: 'How many actors have accepted it.' }),
  requestToken: Type.Optional(
    Type.String({ description: 'Only for back ends, or if the policy returned the obligation return-token.' }),
  ),
  invitorName: Type.Optional(
    Type.String({
      description: "The invitor's shown name, as in the preview. Only with received=true and actions=true.",
    }),
  ),
  actions: Type.Optional(
    Type.Array(Type.Unsafe<InvitationAction>(Type.Enum([...invitationActions])), {
      description: 'What the user may do with it now. Only in a list that was requested with actions=true.',
    }),
  ),
  note: Type.Optional(
    Type.String({
      description:
        'A note for people about a part of the request that has no effect yet, such as a delivery that is only recorded.',
    }),
  ),
});
export type InvitationView = Static<typeof InvitationView>;

export const InvitationDetails = Type.Object({
  ...InvitationView.properties,
  deliveries: Type.Array(
    Type.Object({
      kind: Type.Unsafe<Delivery>(Type.Enum(['mail', 'event', 'response'])),
      status: Type.Unsafe<'recorded' | 'delivered' | 'sent' | 'failed'>(
        Type.Enum(['recorded', 'delivered', 'sent', 'failed'], {
          description:
            'recorded: a mail waits to be sent; of an event nothing more follows. sent: a mail server accepted the mail. failed: the mail will not arrive. delivered: it was in the response.',
        }),
      ),
      reason: Type.Optional(
        Type.String({ description: 'Why it failed: refused, bounced, suppressed, expired or template.' }),
      ),
      recordedAt: Type.String({ format: 'date-time' }),
    }),
  ),
});

export const OneParams = Type.Object({ tenant: Type.String(), id: Type.String({ pattern: UUID.source }) });

export const InvitationRow = Type.Object({
  id: Type.String(),
  status: Type.Unsafe<Exclude<Status, 'expired'>>(Type.String()),
  from_type: Type.String(),
  name: Type.String(),
  to_type: Type.String(),
  direction: Type.Unsafe<Direction>(Type.String()),
  target_type: Type.String(),
  target_id: Type.String(),
  invitor_type: Type.String(),
  invitor_id: Type.String(),
  by_tenant: Type.Boolean(),
  contact_type: Type.String(),
  contact_digest: Type.String(),
  contact_mask: Type.String(),
  contact_encrypted: Nullable(Bytes),
  binding: Type.Unsafe<Binding>(Type.String()),
  language: Nullable(Type.String()),
  redirect_uri: Nullable(Type.String()),
  delivery: Type.Unsafe<Delivery>(Type.String()),
  deliveries: Type.Integer(),
  delivered_at: Instant,
  token_id: Type.String(),
  max_uses: Type.Integer(),
  uses: Type.Integer(),
  expires_at: Instant,
  relationship_expires_at: Nullable(Instant),
  created_at: Instant,
  ended_by: Nullable(Type.String()),
});
export type InvitationRow = Static<typeof InvitationRow>;
/** One that is made: pending, and not used yet. */
export type NewInvitation = Omit<InvitationRow, 'status' | 'uses' | 'deliveries' | 'delivered_at' | 'ended_by'>;

export const DeliveryRow = Type.Object({
  kind: Type.Unsafe<Delivery>(Type.String()),
  status: Type.Unsafe<'recorded' | 'delivered'>(Type.String()),
  recorded_at: Instant,
  message: Nullable(Type.String()),
});

/** An acceptance, with what was accepted. */
export const AcceptedRow = Type.Object({
  ...InvitationRow.properties,
  acceptor_type: Type.String(),
  acceptor_id: Type.String(),
  accepted_at: Instant,
});
export type AcceptedRow = Static<typeof AcceptedRow>;
