/**
 * Shapes that several custom resources share, and the builders that keep every object strict. The descriptions become the
 * text of the CRDs and of the documentation. Plain JSON Schema only, so that routes can reuse a shape.
 */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { bounds } from './bounds.ts';
import { type Pattern, patterns } from './patterns.ts';

/** An object that refuses fields it does not name. */
export function strictObject<Fields extends TProperties>(
  fields: Fields,
  options: { description: string; default?: object },
) {
  return Type.Object(fields, { additionalProperties: false, ...options });
}

/** A map with free keys and values of one shape, of at most `maxProperties` entries. */
export function mapOf<Value extends TSchema>(value: Value, options: { description: string; maxProperties: number }) {
  return Type.Unsafe<Record<string, Static<Value>>>({ type: 'object', additionalProperties: value, ...options });
}

/** A free-form JSON object of at most `maxProperties` fields. */
export function freeObject(options: { description: string; maxProperties: number }) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });
}

/** A non-empty string of at most `maxLength` characters (code points) that matches one of our patterns. */
export function text(pattern: Pattern, maxLength: number, description: string, more: { default?: string } = {}) {
  return Type.String({ description, minLength: 1, maxLength, pattern: pattern.source, ...more });
}

export const DnsLabel = (description: string) => text(patterns.label, bounds.labelCharsMax, description);
export const Email = (description: string) => text(patterns.email, bounds.emailCharsMax, description);
export const TypeName = (description: string, more: { default?: string } = {}) =>
  text(patterns.typeName, bounds.typeNameCharsMax, description, more);

const DisplayName = strictObject(
  {
    language: text(patterns.languageTag, bounds.mailLanguageCharsMax, 'Language of the name (BCP 47).'),
    name: text(patterns.oneLine, bounds.displayNameCharsMax, 'The name as it stands in a sentence, such as may drive.'),
  },
  { description: 'The display name in one language.' },
);
export type DisplayName = Static<typeof DisplayName>;

/** What people read in place of the name of a type. */
export const DisplayNames = Type.Optional(
  Type.Array(DisplayName, {
    maxItems: bounds.displayNamesMax,
    description:
      'What users read in place of the name, on pages and in mails: one for each language. If there is none in their language, they read that of the first language of the pages, or English.',
  }),
);
/** A list of a Kind: one name for each language. */
export const displayNamesKey = { at: '/spec/displayNames', fields: ['language'] } as const;

export const TenantRef = strictObject(
  { name: text(patterns.tenantCode, bounds.tenantCodeCharsMax, 'Name of the Tenant. Immutable.') },
  { description: 'The Tenant that this object belongs to.' },
);

/** How the operator treats the row behind an object; every kind has both fields. */
export const ownershipFields = {
  managementPolicy: Type.Enum(['Enforce', 'CreateOnly', 'Observe'], {
    default: 'Enforce',
    description:
      'Enforce keeps the server equal to this object. CreateOnly writes it once and leaves later changes to the API. Observe writes nothing and only reports the state.',
  }),
  adoptionPolicy: Type.Enum(['Refuse', 'Adopt'], {
    default: 'Refuse',
    description:
      'What to do when the API already owns an object of this name: Refuse leaves it alone and says so in the status, Adopt takes it over and records that.',
  }),
};

export const Audiences = (description: string) =>
  Type.Array(text(patterns.visible, bounds.audienceCharsMax, 'One audience, compared exactly with the claim aud.'), {
    minItems: 1,
    maxItems: bounds.audiencesMax,
    uniqueItems: true,
    description,
  });

const claimPath = (description: string, more: { default?: string } = {}) =>
  text(patterns.visible, bounds.claimPathCharsMax, description, more);

export const tokenMappingFields = {
  actorIdClaimPath: claimPath("Claim that holds the actor's id: a claim's name, or a dotted path into nested claims.", {
    default: 'sub',
  }),
  actorTypeClaimPath: Type.Optional(
    claimPath("Claim that holds the actor's type. Without it, or where a token lacks it, the default type applies."),
  ),
  defaultActorType: TypeName("The actor's type when no claim names one.", { default: 'user' }),
};

export const contactClaimsFields = {
  email: claimPath("Claim that holds the mail address: a claim's name, or a dotted path into nested claims.", {
    default: 'email',
  }),
  emailVerified: claimPath(
    'Claim that is the boolean true where the issuer has verified the address; with anything else, a text included, it counts as not verified.',
    { default: 'email_verified' },
  ),
};
