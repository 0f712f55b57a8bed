import { type Static, Type } from 'typebox';
import type { Actor } from '../core/auth/schema.ts';
import { Nullable } from '../core/db/rows.ts';

export const registerEventTypes = [
  'read',
  'invited',
  'registered',
  'revoked',
  'refused',
  'exported',
  'erased',
  'denied',
] as const;
export type RegisterEventType = (typeof registerEventTypes)[number];

/** What is to be recorded of one request or action. */
export type RegisterEntry = {
  type: RegisterEventType;
  /** ms */
  time: number;
  /** Who acted. */
  actor: Actor;
  /** The user whose consents the entry is about. */
  userId?: string;
  /** Of the consent definition. */
  name?: string;
  version?: string;
  document?: { version: string; language: string };
  /** Of the text that it was about, as the definitions room writes it. */
  contentDigest?: string;
  /** What came of it, in a word: the consent's status, or a problem's code. */
  outcome: string;
  requestId: string;
  clientId?: string;
  /** Why a member acted for the user. */
  reason?: string;
};

/** The fields that tell who it was. They are hashed apart, under a salt, and are wiped when the user is erased. */
export type Personal = { actor: Actor; userId?: string; reason?: string };

/** A new entry as JSON; bytes are `\x` and hexadecimal digits. */
export type InboxRow = {
  tenant: string;
  time: string;
  type: string;
  name: string | null;
  version: string | null;
  document_version: string | null;
  document_language: string | null;
  content_digest: string | null;
  outcome: string;
  request_id: string;
  client_id: string | null;
  personal_digest: string;
  salt: string;
  actor_type: string;
  actor_id: string;
  user_id: string | null;
  reason: string | null;
  /** What is written in the place of the ids where they are erased actors'. */
  actor_pseudonym: string;
  user_pseudonym: string | null;
};

/** What the hashes of an entry are made from; personal fields and salt are all null once they are wiped. */
export const HashedRow = Type.Object({
  id: Type.String(),
  time_ms: Type.Integer(),
  type: Type.String(),
  name: Nullable(Type.String()),
  version: Nullable(Type.String()),
  document_version: Nullable(Type.String()),
  document_language: Nullable(Type.String()),
  content_digest: Nullable(Type.String()),
  outcome: Type.String(),
  request_id: Type.String(),
  client_id: Nullable(Type.String()),
  /** Hexadecimal digits. */
  personal_digest: Type.String(),
});
export type HashedRow = Static<typeof HashedRow>;

/** One entry as the API shows it; what an entry lacks, or what was wiped, is left out. */
export const RegisterEvent = Type.Object({
  id: Type.String(),
  sequence: Type.Optional(
    Type.Integer({ description: "Sequence number in the tenant's chain. Absent until the entry is sealed." }),
  ),
  time: Type.String({ format: 'date-time' }),
  type: Type.Enum(registerEventTypes),
  actor: Type.Optional(
    Type.Object({ type: Type.String(), id: Type.String() }, { description: 'The actor that acted.' }),
  ),
  userId: Type.Optional(Type.String({ description: 'The user whose consents the entry is about.' })),
  name: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  document: Type.Optional(
    Type.Object({ version: Type.Optional(Type.String()), language: Type.Optional(Type.String()) }),
  ),
  contentDigest: Type.Optional(
    Type.String({ description: 'SHA-256 of the text that was agreed to or refused, where the document has one.' }),
  ),
  outcome: Type.String(),
  requestId: Type.String(),
  clientId: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String({ description: 'Why a member acted for the user.' })),
});
export type RegisterEvent = Static<typeof RegisterEvent>;
