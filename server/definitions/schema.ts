/** Shapes of the definitions room: what the Config API shows, what is stored, and what is served from the snapshot. */
import { type Static, Type } from 'typebox';
import { ConsentContent, languageFallbacks, languageFallbackWords } from '../../crds/index.ts';
import { Instant, Json, Nullable } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';
import type { Owner } from '../core/ownership.ts';
import type { EvaluatedVersion } from './evaluate.ts';

/** Values of custom attributes by name; a date is an RFC 3339 instant. */
export type Attributes = Record<string, string | number | boolean>;

const attributes = Type.Unsafe<string | number | boolean>({
  type: ['string', 'number', 'boolean'],
  maxLength: limits.attributeCharsMax,
  description: "A custom attribute that the Tenant's consentAttributes declare.",
});
const instant = (description: string) => Type.String({ format: 'date-time', maxLength: 40, description });

export const DefinitionBody = Type.Object(
  {
    languageFallback: Type.Optional(Type.Enum([...languageFallbacks], { description: languageFallbackWords })),
  },
  { additionalProperties: attributes },
);
export type DefinitionBody = Static<typeof DefinitionBody>;
export const VersionBody = Type.Object(
  {
    optInConfig: Type.Object(
      { type: Type.Enum(['direct'], { description: 'direct: registered as soon as the user agrees.' }) },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: attributes },
);
export const EndOfLifeBody = Type.Object(
  {
    startDate: instant(
      'From this instant on, users are invited to the new version. Must be in the future and before endDate.',
    ),
    endDate: instant('The last instant at which a document of this version can be valid.'),
    gracePeriod: Type.String({
      minLength: 2,
      maxLength: limits.periodCharsMax,
      description: 'An ISO 8601 duration, such as P30D or PT1.5H.',
    }),
  },
  { additionalProperties: false },
);
export type EndOfLifeBody = Static<typeof EndOfLifeBody>;
export const DocumentBody = Type.Object(
  {
    effectiveDate: instant('The first moment at which the document can be offered; not in the past.'),
    content: Type.Optional(ConsentContent),
  },
  { additionalProperties: attributes },
);
export type DocumentBody = Static<typeof DocumentBody>;

const Resources = Type.Array(Type.String());
export const ListView = Type.Object({ resources: Resources, cursor: Type.Optional(Type.String()) });
export const DefinitionView = Type.Object({
  resources: Resources,
  config: Type.Object(
    {
      name: Type.String(),
      archived: Type.Optional(
        Type.Boolean({
          description: 'true: the manifest was deleted. The definition has no active document and accepts no changes.',
        }),
      ),
      languageFallback: Type.Optional(Type.Enum(['lookup'], { description: languageFallbackWords })),
    },
    { additionalProperties: true },
  ),
});
const EndOfLifeView = Type.Object({
  startDate: Type.String({ format: 'date-time' }),
  endDate: Type.String({ format: 'date-time' }),
  gracePeriod: Type.String(),
});
export const EndOfLifeAnswer = Type.Object({ config: EndOfLifeView });
export const VersionView = Type.Object({
  resources: Resources,
  config: Type.Object(
    {
      version: Type.String(),
      endOfLife: Type.Optional(EndOfLifeView),
      optInConfig: Type.Array(Type.Object({ type: Type.String() })),
    },
    { additionalProperties: true },
  ),
});
export const DocumentView = Type.Object({
  config: Type.Object(
    {
      version: Type.String(),
      language: Type.String(),
      effectiveDate: Type.String({ format: 'date-time' }),
      content: Type.Optional(
        Type.Object({
          title: Type.String(),
          mediaType: Type.String(),
          body: Type.Optional(Type.String({ description: 'As it is served: HTML is sanitized.' })),
          url: Type.Optional(Type.String()),
          digest: Type.Optional(
            Type.String({ description: 'SHA-256 of the body as it is served; with url, what its author stated.' }),
          ),
        }),
      ),
    },
    { additionalProperties: true },
  ),
});

/** The answer of a PUT of a document. */
export const DocumentWritten = Type.Object(
  {
    content: Type.Optional(
      Type.Object(
        {
          digest: Type.String({ description: 'SHA-256 of the text as it is served.' }),
          sanitized: Type.Literal(true),
          removed: Type.Array(Type.String(), {
            maxItems: limits.consentRemovedMax,
            description: `What sanitizing removed, such as <script> and onclick, at most ${limits.consentRemovedMax}. Empty where only the markup is written otherwise, such as <P> as <p>.`,
          }),
        },
        { description: 'Only where the text in HTML is not served as it was sent.' },
      ),
    ),
  },
  { additionalProperties: false },
);

export const DefinitionRow = Type.Object({
  tenant: Type.String(),
  name: Type.String(),
  attributes: Json<Attributes>(),
  archived: Type.Boolean(),
  language_fallback: Nullable(Type.Enum(['lookup'])),
  revision: Type.Integer(),
  owner: Json<Owner>(),
});
export const VersionRow = Type.Object({
  tenant: Type.String(),
  definition: Type.String(),
  version: Type.String(),
  attributes: Json<Attributes>(),
  start_date: Nullable(Instant),
  end_date: Nullable(Instant),
  grace_period: Nullable(Type.String()),
  revision: Type.Integer(),
});
export const DocumentRow = Type.Object({
  tenant: Type.String(),
  definition: Type.String(),
  version: Type.String(),
  language: Type.String(),
  document: Type.String(),
  effective_date: Instant,
  attributes: Json<Attributes>(),
  content: Json<Content | null>(),
  revision: Type.Integer(),
});
/** The text of a document, apart from all else of it. */
export const ContentRow = Type.Object({
  effective_date: Instant,
  content: Json<Content | null>(),
  body: Nullable(Type.String()),
});

/** What is known of a document's text: a body, which is stored apart, or the url of one. Digests as digestOf writes them. */
export type Content = {
  title: string;
  mediaType: ConsentContent['mediaType'];
  url?: string;
  /** Of the body; with url what its author states. */
  digest?: string;
  /** Of the body as it was written, where it was sanitized; and what was removed of it. */
  source?: string;
  removed?: string[];
};
/** What is told of a text that is not served as it was sent. */
export type Sanitized = { digest: string; sanitized: true; removed: string[] };

/** Instants are ms since the epoch. */
export type EndOfLifePlan = { startDate: number; endDate: number; gracePeriod: string };
export type DocumentPlan = {
  version: string;
  language: string;
  effectiveDate: number;
  attributes: Attributes;
  content?: Content;
};
/** A document to be written. `body`: null, it has none; absent, it stays as it is. */
export type DocumentWrite = DocumentPlan & { body?: string | null };
export type VersionPlan = {
  version: string;
  attributes: Attributes;
  endOfLife?: EndOfLifePlan;
  documents: DocumentWrite[];
};
/** Absent: there is none. */
type LanguageFallback = 'lookup';
export type DefinitionPlan = {
  name: string;
  attributes: Attributes;
  languageFallback?: LanguageFallback;
  versions: VersionPlan[];
};

/** As stored: each part with the tenant's revision that made it so. Versions and documents in byte order. */
export type StoredDocument = DocumentPlan & { revision: number };
export type StoredVersion = Omit<VersionPlan, 'documents'> & { documents: StoredDocument[]; revision: number };
export type StoredDefinition = {
  tenant: string;
  name: string;
  attributes: Attributes;
  archived: boolean;
  languageFallback?: LanguageFallback;
  revision: number;
  owner: Owner;
  versions: StoredVersion[];
};

/** As served: frozen, and without those that are archived. */
export type Definition = {
  readonly name: string;
  readonly languageFallback?: LanguageFallback;
  readonly versions: readonly (Omit<EvaluatedVersion, 'documents'> & {
    readonly documents: readonly ServedDocument[];
  })[];
};
type ServedDocument = EvaluatedVersion['documents'][number] & {
  readonly content?: Readonly<Pick<Content, 'title' | 'mediaType' | 'digest'>>;
};
export type Definitions = ReadonlyMap<string, Definition>;
