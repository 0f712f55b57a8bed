/** Shapes of the consents room: what callers send and get, and the rows. */
import { type Static, type TSchema, Type } from 'typebox';
import { patterns } from '../../crds/index.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';
import { userStatuses } from '../definitions/index.ts';

type Proof = Record<string, unknown>;

const name = Type.String({
  minLength: 1,
  maxLength: limits.consentNameCharsMax,
  description: 'Name of the definition.',
});
const version = Type.String({ minLength: 1, maxLength: limits.consentVersionCharsMax });
const language = Type.String({ minLength: 1, maxLength: limits.consentLanguageCharsMax });
const userId = Type.String({
  minLength: 1,
  maxLength: limits.entityIdBytesMax,
  description: "The id of the user, an actor of the tenant's default type. Required for back ends; users may omit it.",
});
const Document = Type.Object({ version, language }, { additionalProperties: false });

const reason = Type.String({
  minLength: 1,
  maxLength: limits.memberReasonCharsMax,
  pattern: patterns.visibleText.source,
  description:
    'Why the member acts for the user, such as the number of a signed form. It stands in the ledger and in the audit.',
});

const named = { name, version, document: Document, userId: Type.Optional(userId) };
export const ConsentItem = Type.Object(
  {
    ...named,
    proof: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 256 }), Type.Unknown(), {
        maxProperties: limits.proofMembersMax,
        description: 'Evidence that the application provides. It is stored unchanged with the consent.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ConsentItem = Static<typeof ConsentItem>;

/** Not a union: the error of an invalid object says what is wrong in it, and not that it is not a list. */
export const RegisterBody = Type.Unsafe<ConsentItem | ConsentItem[]>({
  if: { type: 'array' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: Type.Array(ConsentItem, { minItems: 1, maxItems: limits.consentBatchMax }) as TSchema,
  else: ConsentItem as TSchema,
});
/** What a member registers for a user. */
export const MemberConsentBody = Type.Object(
  { ...ConsentItem.properties, userId, reason },
  { additionalProperties: false },
);
export const MemberRevocationBody = Type.Object({ reason }, { additionalProperties: false });
export const RefusalBody = Type.Object(named, { additionalProperties: false });
export type RefusalBody = Static<typeof RefusalBody>;
export const InvitationBody = Type.Object({ userId, name }, { additionalProperties: false });

export const ActiveQuery = Type.Object(
  { name, language, userId: Type.Optional(userId) },
  { additionalProperties: false },
);
export const OutstandingQuery = Type.Object(
  {
    names: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.consentNamesCharsMax,
        description: 'Names of definitions, separated by commas. Default: all.',
      }),
    ),
    language,
    userId: Type.Optional(userId),
  },
  { additionalProperties: false },
);
export const consentFilter = {
  userId: Type.Optional(userId),
  name: Type.Optional(name),
  version: Type.Optional(version),
  status: Type.Optional(Type.Enum([...userStatuses])),
};

/** A consent that was given elsewhere. */
export const SeedLine = Type.Object(
  {
    userId,
    name,
    version,
    document: Document,
    givenAt: Type.String(),
    /** Of the text that the user agreed to, where it is known. */
    contentDigest: Type.Optional(Type.String({ pattern: patterns.digest.source })),
    /** When the user was first invited away from the version. */
    invitedAt: Type.Optional(Type.String()),
    /** How long before the import that was, in place of invitedAt: an ISO 8601 duration. */
    invitedAgo: Type.Optional(Type.String({ maxLength: 40 })),
  },
  { additionalProperties: false },
);
export type SeedLine = Static<typeof SeedLine>;

const DocumentView = Type.Object({ version: Type.String(), language: Type.String() });
const contentDigest = Type.Optional(
  Type.String({ description: 'SHA-256 of the text that was agreed to, where the document has one.' }),
);
const Content = Type.Object(
  {
    title: Type.String(),
    mediaType: Type.String(),
    digest: Type.Optional(
      Type.String({
        description:
          'sha256: and 64 hexadecimal digits, of what url serves. Of a text elsewhere: what its author stated.',
      }),
    ),
    url: Type.String({ description: 'Where the text is, for everybody; receipts name the same address.' }),
  },
  { description: 'The text of the document, where it has one.' },
);
export const EvaluationView = Type.Object({
  name: Type.String(),
  version: Type.String(),
  document: DocumentView,
  status: Type.Enum([...userStatuses, 'active'], {
    description:
      'given, valid and grace are sufficient; required and expired are not. active: the request names no user.',
  }),
  gracePeriodEnds: Type.Optional(
    Type.String({ format: 'date-time', description: 'With grace: the deadline for agreeing to this document.' }),
  ),
  content: Type.Optional(Content),
});
export type EvaluationView = Static<typeof EvaluationView>;
export const OutstandingView = Type.Object({
  consents: Type.Array(EvaluationView),
  inOtherLanguages: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), languages: Type.Array(Type.String()) }), {
      description: `Definitions that have nothing active in the requested language and need an answer in others, of which at most ${limits.consentLanguagesShownMax} are listed. Absent if there are none.`,
    }),
  ),
});
export type OutstandingView = Static<typeof OutstandingView>;

export const UserConsentView = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  name: Type.String(),
  version: Type.String(),
  document: DocumentView,
  givenAt: Type.String({ format: 'date-time' }),
  contentDigest,
  proof: Type.Optional(Type.Unsafe<Proof>({ type: 'object', additionalProperties: true })),
});
export type UserConsentView = Static<typeof UserConsentView>;
const Listed = Type.Object({ ...UserConsentView.properties, status: Type.Enum([...userStatuses]) });
export const ConsentsView = Type.Object({ consents: Type.Array(Listed), cursor: Type.Optional(Type.String()) });
const Mine = Type.Object({
  ...Listed.properties,
  endsAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'The last instant at which a consent to its version can count, where the version has an end of life.',
    }),
  ),
  content: Type.Optional(Content),
});
export const MineView = Type.Object({ consents: Type.Array(Mine), cursor: Type.Optional(Type.String()) });
export type MineConsent = Static<typeof Mine>;
export type ListedConsent = Static<typeof Listed>;

export const ItemResult = Type.Object({
  status: Type.Integer({ description: '201: registered. 200: already given. Otherwise the status of the problem.' }),
  consent: Type.Optional(UserConsentView),
  problem: Type.Optional(
    Type.Object(
      { code: Type.String(), title: Type.String(), detail: Type.String() },
      { description: 'Why the consent was not registered.' },
    ),
  ),
});
export type ItemResult = Static<typeof ItemResult>;
export const BatchView = Type.Object({ results: Type.Array(ItemResult) });
export const RefusalView = Type.Object({
  userId: Type.String(),
  name: Type.String(),
  version: Type.String(),
  document: DocumentView,
  refusedAt: Type.String({ format: 'date-time' }),
});
export const InvitedView = Type.Object({
  userId: Type.String(),
  name: Type.String(),
  version: Type.String({ description: 'The version that the user consented to.' }),
  invitedAt: Type.String({ format: 'date-time', description: 'When the user was first invited.' }),
  gracePeriodEnds: Type.String({ format: 'date-time' }),
});

/** What is evaluated of a consent: its proof, up to 4 KiB, and the digest of its text are read only to be shown. */
export const GivenRow = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  definition: Type.String(),
  version: Type.String(),
  document: Type.String(),
  language: Type.String(),
  given_at: Instant,
  /** When the user was first invited away from the version. */
  invited_at: Nullable(Instant),
});
export type GivenRow = Static<typeof GivenRow>;
export const ConsentRow = Type.Object({
  ...GivenRow.properties,
  proof: Nullable(Json<Proof>()),
  content_digest: Nullable(Type.String()),
});
export type ConsentRow = Static<typeof ConsentRow>;
/** Who is asked about by question `n`, and a consent of theirs; without one, all but the id is null. */
export const HolderRow = Type.Object({
  n: Type.Integer(),
  user_id: Type.String(),
  named: Type.Boolean(),
  id: Nullable(Type.String()),
  definition: Nullable(Type.String()),
  version: Nullable(Type.String()),
  document: Nullable(Type.String()),
  language: Nullable(Type.String()),
  given_at: Nullable(Instant),
  invited_at: Nullable(Instant),
});
/** A row for question `n`. */
export const ConsentHistoryRow = Type.Object({ n: Type.Integer(), ...GivenRow.properties });
