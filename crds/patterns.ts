/**
 * The regular expressions of the custom resources and, for each, what it asks for in words, so that a refusal never shows
 * a reader an expression. Written in the common subset of ECMAScript (flag u, what Ajv uses) and RE2 (what the API server
 * uses): no look-around, no \s or \d, which differ between them.
 */

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const host = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*';
// The addr-spec that browsers accept (WHATWG HTML, valid e-mail address), without the backquote.
const email = `[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]+@${host}`;

// At least one unit each, without look-ahead.
const unit = '[0-9]{1,4}';
const days = `(?:${unit}Y(?:${unit}M)?(?:${unit}W)?(?:${unit}D)?|${unit}M(?:${unit}W)?(?:${unit}D)?|${unit}W(?:${unit}D)?|${unit}D)`;
// The last unit may have a fraction, unless it is years or months.
const last = `${unit}(?:[.,][0-9]{1,9})?`;
const lastDays = `(?:(?:${unit}Y)?(?:${unit}M)?(?:(?:${unit}W)?${last}D|${last}W)|(?:${unit}Y)?${unit}M|${unit}Y)`;
const clock = `(?:(?:${unit}H)?(?:(?:${unit}M)?${last}S|${last}M)|${last}H)`;

/** A port from 1 to 65535, if there is one. */
export const optionalPort = '(?::(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5]))?';
const authority = (hosts: string) => `${hosts}${optionalPort}`;
const anyHost = `(?:${host}\\.?|\\[[0-9A-Fa-f:.]+\\])`;
const loopback = '(?:localhost|127(?:\\.[0-9]{1,3}){3}|\\[::1\\])';
// The API server prices an expression by its length. RFC 3986 pchar and the slash: `$-;` has the digits and $%&'()*+,-./:; alone.
export const path = '(?:/[!$-;=@A-Z_a-z~]*)?';
export const query = '(?:\\?[!$-;=?@A-Z_a-z~]*)?';

/** One expression and the words for it: "must be " + words. */
export interface Pattern {
  readonly source: string;
  readonly words: string;
}

export const patterns = {
  tenantCode: {
    source: '^[a-z][a-z0-9-]{1,39}$',
    words: 'a tenant code: 2 to 40 of a-z, 0-9 and hyphen, beginning with a letter',
  },
  visibleText: { source: '\\S', words: 'a text with at least one visible character' },
  label: {
    source: `^${label}$`,
    words: 'an RFC 1123 label: a-z, 0-9 and hyphens, beginning and ending with a letter or digit',
  },
  subdomain: {
    source: `^${label}(?:\\.${label})*$`,
    words: 'an RFC 1123 name: a-z, 0-9, hyphens and dots, each part beginning and ending with a letter or digit',
  },
  labelKey: {
    source: `^(?:${label}(?:\\.${label})*/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$`,
    words: 'a label key: a name of letters, digits, - _ and . with an optional DNS prefix and a slash before it',
  },
  labelValue: {
    source: '^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
    words: 'a label value: empty, or letters, digits, - _ and . beginning and ending with a letter or digit',
  },
  email: { source: `^${email}$`, words: 'an e-mail address' },
  mailFrom: {
    source: `^(?:${email}|[^<>@"\\p{Cc}]+ <${email}>)$`,
    words: 'an e-mail address, or a name and the address in angle brackets',
  },
  oneLine: {
    source: '^[^\\p{Cc}\\p{Zl}\\p{Zp}]+$',
    words: 'one line without control characters',
  },
  host: { source: `^${host}$`, words: 'a host name' },
  visible: { source: '^[^\\x00-\\x20\\x7f]+$', words: 'free of spaces and control characters' },
  clientId: {
    source: '^[A-Za-z0-9][A-Za-z0-9._~-]*$',
    words: 'a client id: letters, digits, hyphen, dot, underscore and tilde, beginning with a letter or digit',
  },
  deliveryId: { source: '^[1-9][0-9]{0,14}$', words: 'the number of an event, of at most 15 digits' },
  mailTemplateName: {
    source: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
    words: '1 to 63 lower-case letters, digits and hyphens, and begin and end with a letter or a digit',
  },
  base64url: { source: '^[A-Za-z0-9_-]+$', words: 'base64url without padding' },
  actorIdPrefix: { source: '^[!-.0-~]+$', words: 'visible ASCII characters without a slash' },
  typeName: {
    source: '^[A-Za-z][A-Za-z0-9_-]*$',
    words: 'a type name: letters, digits, _ and -, beginning with a letter',
  },
  relationshipTypeKey: {
    source: '^[A-Za-z][A-Za-z0-9_-]*:[A-Za-z][A-Za-z0-9_-]*:[A-Za-z][A-Za-z0-9_-]*$',
    words: 'a relationship type, From:relationship:To',
  },
  dataSubjectPath: {
    source: '^(?:subject|resource|context)(?:\\.[A-Za-z_][A-Za-z0-9_-]*)+$',
    words:
      'a path below subject, resource or context: names of letters, digits, _ and - joined by dots, such as resource.patient',
  },
  attributeName: {
    source: '^[A-Za-z_][A-Za-z0-9_]*$',
    words: 'an attribute name: letters, digits and _, not beginning with a digit',
  },
  policyName: {
    source: '^[^/?#\\\\\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}]+$',
    words: 'printable characters without / ? # and backslash',
  },
  basicUser: { source: '^[!-9;-~]+$', words: 'visible ASCII characters without spaces and colons' },
  eventType: {
    source: '^(?:[A-Z][A-Z0-9_]*[*]?|[*])$',
    words: 'a type of events, such as RELATIONSHIP_CREATED, or the beginning of types and a *',
  },
  regoPackage: {
    source: '^[A-Za-z][A-Za-z0-9_]*(?:\\.[A-Za-z][A-Za-z0-9_]*)*$',
    words:
      'a Rego package: names of letters, digits and _, each beginning with a letter, joined by dots, such as company.roles',
  },
  dataPath: {
    source: '^[A-Za-z][A-Za-z0-9_-]*(?:/[A-Za-z][A-Za-z0-9_-]*)*$',
    words:
      'a path below data: names of letters, digits, _ and -, each beginning with a letter, joined by slashes, such as company/roles',
  },
  duration: {
    source: '^PT[1-9][0-9]{0,4}[HMS]$',
    words: 'an ISO 8601 duration of one unit, such as PT1H, PT30M or PT90S',
  },
  invitationTtl: {
    source:
      '^P(?:(?:[1-9]|[12][0-9]|30)D|T(?:[1-9][0-9]?|[1-6][0-9]{2}|7[01][0-9]|720)H|T[1-9][0-9]{0,3}M|T[1-9][0-9]{0,4}S)$',
    words: 'an ISO 8601 duration of one unit and at most 30 days, such as P7D, PT48H or PT30M',
  },
  instant: {
    source:
      '^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,3})?(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])$',
    words: 'an RFC 3339 instant with a zone and at most milliseconds, such as 2030-01-31T12:00:00Z',
  },
  period: {
    source: `^P(?:${lastDays}|${days}?T${clock})$`,
    words:
      'an ISO 8601 duration, such as P30D, P1Y6M or PT1.5H; only its last number may have a fraction, and neither years nor months may',
  },
  httpsUrl: {
    source: `^https://${authority(anyHost)}${path}${query}$`,
    words: 'an https URL without user information or a fragment',
  },
  scopeToken: {
    source: '^[!#-\\[\\]-~]+$',
    words: 'a scope: visible ASCII characters without quotes and backslash',
  },
  colour: { source: '^#[0-9A-Fa-f]{6}$', words: 'a colour: # and six hexadecimal digits' },
  digest: { source: '^sha256:[0-9a-f]{64}$', words: 'sha256: and 64 hexadecimal digits in lower case' },
  contactType: {
    source: '^[Ee]-?[Mm][Aa][Ii][Ll](_?[Aa][Dd][Dd][Rr][Ee][Ss][Ss])?$',
    words: 'email, e-mail, email_address or emailAddress, in any case: there is no other type of contact yet',
  },
  languageTag: {
    source: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
    words: 'a BCP 47 language tag, such as de or de-AT',
  },
  graphNodeId: {
    source: '^[A-Za-z0-9_][A-Za-z0-9_.:-]*$',
    words: 'an id of letters, digits, _ . : and -, beginning with a letter, a digit or _',
  },
  graphPath: { source: '^[^.]+(\\.[^.]+)*$', words: 'names joined by dots, such as resource.owner' },
  timeOfDay: { source: '^([01][0-9]|2[0-3]):[0-5][0-9]$', words: 'a time of day, such as 08:30' },
  identifier: { source: '^[A-Za-z0-9_-]{1,64}$', words: '1 to 64 letters, digits, _ and -' },
  uuid: {
    source: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    words: 'a UUID in lower case, such as 01890a5d-ac96-774b-bcce-b302099a8057',
  },
  anyUuid: {
    source: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    words: 'a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057',
  },
  revisionNumber: { source: '^[1-9]\\d{0,14}$', words: 'a whole number from 1 on' },
  sha256Hex: { source: '^[0-9a-f]{64}$', words: '64 hexadecimal digits in lower case' },
  visibleAscii: { source: '^[\\x21-\\x7e]+$', words: 'visible ASCII characters without spaces' },
  conditionType: { source: '^[A-Z][A-Za-z]*$', words: 'a condition type in CamelCase' },
  reason: { source: '^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$', words: 'a reason in CamelCase' },
} as const satisfies Record<string, Pattern>;

const words = new Map<string, string>(Object.values(patterns).map((pattern) => [pattern.source, pattern.words]));

/** What the expression asks for in words, or undefined where it is not one of ours. */
export function patternInWords(source: string): string | undefined {
  return words.get(source);
}

const base = `^(?:https://${anyHost}|http://${loopback})${optionalPort}${path}`;

/** https to any host, or http to a loopback host; no user information, no fragment. */
export const urlPattern = { withQuery: `${base}${query}$`, withoutQuery: `${base}$` } as const;

/** https or http to any host; no user information, no fragment. */
export const endpointPattern = `^https?://${authority(anyHost)}${path}${query}$`;
