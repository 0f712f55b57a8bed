/**
 * ConsentDefinition: one logical consent with all its versions and documents. What of it time has closed stays as it is:
 * the operator compares with what is stored, because no CEL rule knows the time.
 */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { freeObject, ownershipFields, strictObject, TenantRef, text } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { immutable, type Rule, rule } from './rule.ts';

const Name = (description: string) => text(patterns.policyName, bounds.consentNameCharsMax, description);
const Version = (description: string) => text(patterns.policyName, bounds.consentVersionCharsMax, description);
const Instant = (description: string) => text(patterns.instant, bounds.instantCharsMax, description);

const Attributes = Type.Optional(
  freeObject({
    maxProperties: bounds.consentAttributesMax,
    description: "Custom attributes by name, as the Tenant's consentAttributes declare them.",
  }),
);

const EndOfLife = strictObject(
  {
    startDate: Instant(
      'When users of the version begin to be invited to its successor: RFC 3339 with a zone. It must be in the future when it is first accepted. Once reached, endOfLife cannot change.',
    ),
    endDate: Instant('The last moment at which a document of the version can be valid.'),
    gracePeriod: text(
      patterns.period,
      bounds.periodCharsMax,
      'How long a user has to agree after the first invitation, at most until endDate: an ISO 8601 duration, such as P30D or PT1.5H.',
    ),
  },
  { description: 'How the version ends. If absent, it does not end.' },
);

/** What a body may be, and what a url may name besides. */
const bodyMediaTypes = ['text/plain', 'text/html'] as const;
const contentMediaTypes = [...bodyMediaTypes, 'application/pdf'] as const;

/** The Config API takes the same. */
export const ConsentContent = strictObject(
  {
    title: text(patterns.oneLine, bounds.consentTitleCharsMax, 'Title of the document, for people.'),
    mediaType: Type.Enum([...contentMediaTypes], {
      description: 'What the body or the url is: text/plain or text/html. By url also application/pdf.',
    }),
    body: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: bounds.consentBodyBytesMax,
        description: `The text, at most ${bounds.consentBodyBytesMax} bytes in UTF-8. HTML is sanitized before it is stored.`,
      }),
    ),
    url: Type.Optional(
      text(
        patterns.httpsUrl,
        bounds.urlCharsMax,
        'Where the text is, instead of a body: an https URL. The server never fetches it.',
      ),
    ),
    digest: Type.Optional(
      text(
        patterns.digest,
        bounds.digestCharsMax,
        'SHA-256 of the text, sha256: and 64 hexadecimal digits. With url it is recorded as stated here. With body it is optional and must match the body.',
      ),
    ),
  },
  {
    description:
      'The text that users agree to: a body, or the url of one. It cannot change once the document is effective.',
  },
);
export type ConsentContent = Static<typeof ConsentContent>;

export const languageFallbacks = ['none', 'lookup'] as const;
export const languageFallbackWords =
  'The answer when no document is active in the requested language. none (default): 404 with the available languages. lookup: the closest less specific language, such as de for de-AT (RFC 4647 section 3.4). It can change at any time.';

const Document = strictObject(
  {
    version: Version('Version of the document. Version and language together identify a document.'),
    language: text(
      patterns.policyName,
      bounds.consentLanguageCharsMax,
      'Language, such as de-AT, or another name of the audience.',
    ),
    effectiveDate: Type.Optional(
      Instant(
        'When the document takes effect: RFC 3339 with a zone, not in the past when it is first accepted. Defaults to the time when it is first accepted. Once reached, the document cannot change.',
      ),
    ),
    attributes: Attributes,
    content: Type.Optional(ConsentContent),
  },
  { description: 'One document. A minor change of its wording is a new document of the same version.' },
);

const ConsentVersion = strictObject(
  {
    version: Version('Name of the version. A major change is a new version.'),
    attributes: Attributes,
    optInConfig: strictObject(
      { type: Type.Enum(['direct'], { description: 'direct: a consent is registered as soon as the user agrees.' }) },
      { description: 'How users agree.' },
    ),
    endOfLife: Type.Optional(EndOfLife),
    documents: Type.Array(Document, {
      maxItems: bounds.consentDocumentsMax,
      description: 'The documents of the version, in all languages, including past ones.',
    }),
  },
  { description: 'One version of the consent.' },
);

export const ConsentDefinitionSpec = strictObject(
  {
    tenantRef: TenantRef,
    name: Name('Name of the consent, as applications ask for it. Immutable.'),
    attributes: Attributes,
    versions: Type.Array(ConsentVersion, {
      minItems: 1,
      maxItems: bounds.consentVersionsMax,
      description: 'All versions, including past ones. A version is never removed.',
    }),
    languageFallback: Type.Optional(Type.Enum([...languageFallbacks], { description: languageFallbackWords })),
    ...ownershipFields,
  },
  { description: 'The desired state of the consent definition.' },
);
export type ConsentDefinitionSpec = Static<typeof ConsentDefinitionSpec>;

type Ending = { startDate: string; endDate: string };
type Documented = { effectiveDate?: string };
type Versioned = { version: string };

/** A day that its month has: Date.parse reads 30 February as 2 March. */
function isReal(instant: string): boolean {
  const ms = Date.parse(instant);
  const year = new Date(ms).getUTCFullYear();
  const day = new Date(`${instant.slice(0, 10)}T00:00:00Z`).getUTCDate();
  return year >= 1 && year <= 9999 && day === Number(instant.slice(8, 10));
}

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the definition and make it in the other tenant'),
  immutable('/spec/name', 'must not change: make a definition of the other name'),
  {
    at: '/spec/versions',
    cel: 'oldSelf.all(o, self.exists(n, n.version == o.version))',
    message: 'must keep every version: users may have consented to it',
    transition: true,
    check: (self, old) => {
      const kept = new Set((self as Versioned[]).map((one) => one.version));
      return (old as Versioned[]).every((one) => kept.has(one.version));
    },
  },
  rule<Ending>({
    at: '/spec/versions/*/endOfLife',
    cel: 'timestamp(self.startDate) < timestamp(self.endDate)',
    message: 'must have a startDate before its endDate, both of days that exist',
    check: (self) =>
      isReal(self.startDate) && isReal(self.endDate) && Date.parse(self.startDate) < Date.parse(self.endDate),
  }),
  rule<Documented>({
    at: '/spec/versions/*/documents/*',
    field: '/effectiveDate',
    cel: "!has(self.effectiveDate) || timestamp(self.effectiveDate) >= timestamp('0001-01-01T00:00:00Z')",
    message: 'must be of a day that exists',
    check: (self) => self.effectiveDate === undefined || isReal(self.effectiveDate),
  }),
  rule<ConsentContent>({
    at: '/spec/versions/*/documents/*/content',
    cel: 'has(self.body) != has(self.url)',
    message: 'must have either a body or a url',
    check: (self) => (self.body === undefined) !== (self.url === undefined),
  }),
  rule<ConsentContent>({
    at: '/spec/versions/*/documents/*/content',
    field: '/mediaType',
    cel: "has(self.url) || self.mediaType != 'application/pdf'",
    message: 'must be text/plain or text/html for a body: a PDF is named by url',
    check: (self) => self.url !== undefined || self.mediaType !== 'application/pdf',
  }),
];

const ActiveDocument = strictObject(
  {
    language: Type.String({ maxLength: bounds.consentLanguageCharsMax, description: 'The language.' }),
    version: Type.String({ maxLength: bounds.consentVersionCharsMax, description: 'The version that is active.' }),
    document: Type.String({ maxLength: bounds.consentVersionCharsMax, description: 'The document that is active.' }),
  },
  { description: 'What new users are offered in one language.' },
);

const SanitizedDocument = strictObject(
  {
    language: Type.String({ maxLength: bounds.consentLanguageCharsMax, description: 'The language.' }),
    version: Type.String({ maxLength: bounds.consentVersionCharsMax, description: 'The version.' }),
    document: Type.String({ maxLength: bounds.consentVersionCharsMax, description: 'The document.' }),
    digest: Type.String({
      maxLength: bounds.digestCharsMax,
      description: 'SHA-256 of the text as it is served.',
    }),
    removed: Type.Array(Type.String({ maxLength: bounds.consentRemovedCharsMax }), {
      maxItems: bounds.consentRemovedMax,
      description:
        'What sanitizing removed, such as <script> and onclick. Empty where only the markup is written otherwise.',
    }),
  },
  { description: 'A document whose text in HTML is not served as it was written.' },
);

const Locked = strictObject(
  {
    version: Type.String({ maxLength: bounds.consentVersionCharsMax, description: 'The version.' }),
    endOfLife: Type.Boolean({ description: 'Whether its endOfLife can no longer change.' }),
    documents: Type.Integer({
      minimum: 0,
      maximum: bounds.consentDocumentsMax,
      description: 'How many of its documents can no longer change, because they are or were in effect.',
    }),
  },
  { description: 'What can no longer change in one version.' },
);

const ConsentDefinitionStatus = Type.Object(
  {
    ...Status.properties,
    active: Type.Optional(
      Type.Array(ActiveDocument, {
        maxItems: bounds.consentActiveMax,
        description: 'What is active in each language, when the operator last looked.',
      }),
    ),
    sanitized: Type.Optional(
      Type.Array(SanitizedDocument, {
        maxItems: bounds.consentSanitizedMax,
        description: 'The documents whose text is served without some of its markup.',
      }),
    ),
    locked: Type.Optional(
      Type.Array(Locked, {
        maxItems: bounds.consentVersionsMax,
        description: 'What can no longer change, when the operator last looked.',
      }),
    ),
  },
  { additionalProperties: false, description: 'The observed state. Written by the operator only.' },
);

export const consentDefinition = {
  kind: 'ConsentDefinition',
  plural: 'consentdefinitions',
  singular: 'consentdefinition',
  shortNames: ['acdef'],
  scope: 'Namespaced',
  description: 'A consent that users are asked for, with all its versions and documents.',
  specSchema: ConsentDefinitionSpec,
  statusSchema: ConsentDefinitionStatus,
  printerColumns: columns({
    tenant: true,
    own: [column('Definition', '.spec.name', 'Name of the consent definition in paths and requests.')],
  }),
  rules,
  listKeys: [
    { at: '/spec/versions', fields: ['version'] },
    { at: '/spec/versions/*/documents', fields: ['language', 'version'] },
  ],
} as const satisfies Kind;
