import { type Static, Type } from 'typebox';
import { Instant, Json, Nullable } from '../core/db/rows.ts';

export const timelineKinds = ['relationship', 'invitation', 'consent', 'decision', 'mail', 'audit'] as const;
export type TimelineKind = (typeof timelineKinds)[number];

/**
 * A person, as records name it. `recipients`: digests of its addresses, as mails have them. `key`: what makes the ids of items
 * that have none of their own, which must not tell what they are made of.
 */
export type Person = { type: string; id: string; isUser: boolean; recipients: readonly string[]; key: string };

/** Where a page ended, and when the first one was read. Both in UTC to the microsecond. */
export type Place = { at: string; id: string; asOf: string };

export const BoundRow = Type.Object({ exceeded: Type.Boolean(), now: Type.String() });
export type BoundRow = Static<typeof BoundRow>;

/** `data` is what the statement made of the row; view.ts says what of it is shown. */
export const ItemRow = Type.Object({
  at: Type.String(),
  id: Type.String(),
  kind: Type.Unsafe<TimelineKind>(Type.String()),
  data: Json<Record<string, unknown>>(),
});
export type ItemRow = Static<typeof ItemRow>;

/** Records that an id may be of. */
export const recordKinds = ['decision', 'audit', 'consent', 'event', 'invitation', 'mail'] as const;
export type RecordKind = (typeof recordKinds)[number];

export const RecordRow = Type.Object({ ...ItemRow.properties, kind: Type.Unsafe<RecordKind>(Type.String()) });
export type RecordRow = Static<typeof RecordRow>;

const Named = Type.Object({ type: Type.String(), id: Type.String() });
const text = Type.Optional(Type.String());
export const ItemView = Type.Object({
  at: Type.String({ description: 'When it happened, to the microsecond.' }),
  id: Type.String(),
  kind: Type.Unsafe<TimelineKind>(Type.Enum([...timelineKinds])),
  what: Type.String({
    description:
      'What happened: created (relationship); invited, accepted (invitation); the type of the ledger entry (consent); the outcome (decision); the status (mail); the action (audit).',
  }),
  from: Type.Optional(Named),
  relationshipType: text,
  to: Type.Optional(Named),
  expiresAt: text,
  invitationId: text,
  status: text,
  contact: Type.Optional(Type.String({ description: 'The mask of the invited contact.' })),
  name: Type.Optional(Type.String({ description: 'The consent definition, or the object of an audit entry.' })),
  version: text,
  document: Type.Optional(Type.Object({ version: text, language: text })),
  outcome: text,
  action: Type.Optional(Type.String({ description: 'The action of a decision.' })),
  resource: Type.Optional(Type.Object({ type: text, id: text })),
  reason: text,
  template: text,
  by: Type.Optional(Type.String({ description: 'Who did it.' })),
  objectKind: text,
  requestId: text,
});
export type ItemView = Static<typeof ItemView>;

export const RecordView = Type.Object({
  ...ItemView.properties,
  kind: Type.Unsafe<RecordKind>(Type.Enum([...recordKinds])),
  sequence: Type.Optional(Type.Integer({ description: 'The number of an event.' })),
});
export type RecordView = Static<typeof RecordView>;

const Truncated = Type.Array(
  Type.Object({
    kind: Type.Unsafe<TimelineKind>(Type.Enum([...timelineKinds])),
    recordsMax: Type.Integer({ description: 'How many of each direction are looked at.' }),
  }),
  {
    description:
      'The kinds of which the actor has more than are looked at. Of relationships the first in the order of relationship type, type and id are looked at, in each direction; the list of relationships has all. Absent: nothing is left out.',
  },
);
export type Truncated = Static<typeof Truncated>;
export const truncatedField = { truncated: Type.Optional(Truncated) };

export const SeenRow = Type.Object({
  attributes: Nullable(Json<Record<string, unknown>>()),
  email: Nullable(Type.String()),
  display_name: Nullable(Type.String()),
  first_seen: Nullable(Instant),
  last_seen: Nullable(Instant),
});
export type SeenRow = Static<typeof SeenRow>;

export const PersonView = Type.Object({
  type: Type.String(),
  id: Type.String(),
  displayName: text,
  attributes: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
  account: Type.Optional(
    Type.Object({ email: Type.String() }, { description: "Of the tenant's own issuer. Support sees it masked." }),
  ),
  firstSeen: text,
  lastSeen: text,
  ...truncatedField,
});

export const FoundPerson = Type.Object({
  type: Type.String(),
  id: Type.String(),
  by: Type.Enum(['id', 'account', 'invitation'], {
    description: 'By its id, by the address of its account, or by an invitation to the address that it accepted.',
  }),
});
export type FoundPerson = Static<typeof FoundPerson>;
export const FoundRow = Type.Object({ type: Type.String(), id: Type.String() });
