/** Shapes of what is shown to people: what they share and may share, and what it is called. */
import { type Static, Type } from 'typebox';
import { patterns } from '../../crds/index.ts';
import { limits } from '../core/limits.ts';
import { Entity } from '../relationships/schema.ts';

export type Direction = 'acceptor_to_target' | 'target_to_acceptor';
export const Direction = Type.Unsafe<Direction>(Type.Enum(['acceptor_to_target', 'target_to_acceptor']));

/** Of a list or preview for people. */
export const LanguageQuery = {
  language: Type.Optional(
    Type.String({
      pattern: patterns.languageTag.source,
      maxLength: 35,
      description: 'A language (BCP 47). The answer then has displayNames in it.',
    }),
  ),
};
const DisplayNames = Type.Object(
  {
    relationshipType: Type.String({ description: 'Of the relationship type.' }),
    type: Type.String({ description: 'Of the type of what is shared.' }),
  },
  {
    description:
      'Display names of the types in the language of the request; if there is none in it, in the first language of the pages, or in English. A type without display names has its name without underscores.',
  },
);
export type DisplayNames = Static<typeof DisplayNames>;
export const displayNames = Type.Optional(DisplayNames);

const Share = Type.Object({
  id: Type.String({ description: 'Names it for this user only.' }),
  what: Type.Object(Entity.properties, { description: 'What is shared.' }),
  relationshipType: Type.String(),
  displayNames,
  contact: Type.Optional(Type.String({ description: 'Masked, where the invitation went.' })),
  invitor: Type.Optional(
    Type.Object(
      { displayName: Type.String() },
      { description: 'Of received. Absent when the tenant has stored no name of the invitor.' },
    ),
  ),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'When it was accepted.' })),
  expiresAt: Type.Optional(Type.String({ format: 'date-time', description: 'When the relationship expires.' })),
  canEnd: Type.Boolean(),
});
const more = Type.Boolean({
  description: `Whether there are more than are listed: at most ${limits.accountItemsMax} of each are looked at.`,
});
export const SharesView = Type.Object({
  given: Type.Array(Share),
  received: Type.Array(Share),
  own: Type.Optional(Type.Array(Share)),
  more,
});
export const OffersView = Type.Object({
  offers: Type.Array(
    Type.Object({
      relationshipType: Type.String(),
      to: Entity,
      displayNames,
      acceptorType: Type.String({ description: "The type of the acceptor, for the invitation's invitee.type." }),
      direction: Direction,
      ttl: Type.String({ description: 'How long an invitation can be accepted: an ISO 8601 duration.' }),
    }),
  ),
  more,
});
export const ShareParams = Type.Object({
  tenant: Type.String(),
  id: Type.String({ minLength: 1, maxLength: 64 }),
});
