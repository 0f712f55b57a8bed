/**
 * The text of a consent document, pure: what a content may be, what is stored of it, and its digest. What is stored is
 * what is served, byte for byte: HTML is sanitized before, and the digest is of the result. `source` is the digest of what
 * the author wrote, where that is something else: so the same manifest stays the same, whichever sanitizer reads it later.
 * `removed` is what sanitizing took out of that, as it was told then.
 */
import { hash } from 'node:crypto';
import type { ConsentContent } from '../../crds/index.ts';
import { limits } from '../core/limits.ts';
import type { ProblemPlace } from '../core/problems.ts';
import { isText } from '../core/text.ts';
import { elements, removedFrom, sanitized } from './html.ts';
import { definitionProblem } from './problems.ts';
import type { Content, DocumentWrite, Sanitized } from './schema.ts';

/** Of the UTF-8 of a text. */
export function digestOf(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`;
}

/** The first field of a document's content that differs from what is stored; undefined: none does. */
export function changedContent(stored: Content | undefined, given: ConsentContent | undefined): string | undefined {
  if (stored === undefined || given === undefined) return stored === given ? undefined : 'content';
  if (stored.title !== given.title) return 'content/title';
  if (stored.mediaType !== given.mediaType) return 'content/mediaType';
  if (stored.url !== given.url) return 'content/url';
  if (given.body === undefined) return stored.digest === given.digest ? undefined : 'content/digest';
  const digest = digestOf(given.body);
  if (digest !== stored.digest && digest !== stored.source) return 'content/body';
  const isStated = given.digest === undefined || given.digest === digest || given.digest === stored.digest;
  return isStated ? undefined : 'content/digest';
}

/**
 * What is to be written of a document's content: what it has already stays as it is, whatever would be made of it today.
 * @throws Problem consent_content_invalid
 */
export function contentPlan(
  stored: Content | undefined,
  given: ConsentContent | undefined,
  pointer: string,
): Pick<DocumentWrite, 'content' | 'body'> {
  if (changedContent(stored, given) === undefined) return stored === undefined ? {} : { content: stored };
  if (given === undefined) return { body: null };
  const read = readContent(given, `${pointer}/content`);
  if (!('pointer' in read)) return read;
  throw definitionProblem('consent_content_invalid', { detail: read.detail, errors: [read] });
}

/** What is wrong with a content, and where. Its fields have the shapes of their schema. */
export function wrongContent(given: ConsentContent, pointer: string): ProblemPlace | undefined {
  const read = readContent(given, pointer);
  return 'pointer' in read ? read : undefined;
}

type Written = { content: Content; body: string | null };

/** What is stored of a content, and its body apart (null: it has none); or what is wrong with it. */
function readContent(given: ConsentContent, pointer: string): Written | ProblemPlace {
  const { title, mediaType, body, url, digest } = given;
  const wrong = (field: string, detail: string) => ({ pointer: `${pointer}${field}`, detail });
  const turned = controlOf(title, DIRECTIONS);
  if (turned !== undefined)
    return wrong('/title', `Has ${turned.code}, which changes the order in which letters are shown.`);
  if ((body === undefined) === (url === undefined)) return wrong('', 'Must have either a body or a url.');
  if (body === undefined) {
    return { content: { title, mediaType, ...(url && { url }), ...(digest && { digest }) }, body: null };
  }
  if (mediaType === 'application/pdf') {
    return wrong('/mediaType', 'Must be text/plain or text/html for a body: a PDF is named by url.');
  }
  const noText = wrongText(body) ?? otherMediaType(mediaType, body);
  if (noText !== undefined) return wrong('/body', noText);
  const served = mediaType === 'text/html' ? sanitized(body) : body;
  const override = controlOf(served, OVERRIDES);
  if (override !== undefined) {
    return wrong(
      '/body',
      `Line ${override.line} has ${override.code}, which shows letters in another order than they have.`,
    );
  }
  const long = tooLong(served);
  if (long !== undefined) return wrong('/body', `${long} It is counted as it is served.`);
  if (mediaType === 'text/html' && !/\S/.test(served.replace(/<[^>]*>/g, ''))) {
    return wrong('/body', 'Has no words left when it is sanitized.');
  }
  const [source, stored] = [digestOf(body), digestOf(served)];
  if (digest !== undefined && digest !== source && digest !== stored) {
    const orServed = source === stored ? '' : `, nor of what is served of it, sanitized, which is ${stored}`;
    return wrong('/digest', `Is not the digest of the body, which is ${source}${orServed}.`);
  }
  const written = source === stored ? {} : { source, removed: removedFrom(body) };
  return { content: { title, mediaType, digest: stored, ...written }, body: served };
}

/** What an author is told whose text is not served as it was sent. */
export function sanitizedContent(stored: Content | undefined, body: string | undefined): Sanitized | undefined {
  if (stored?.digest === undefined || body === undefined || digestOf(body) === stored.digest) return undefined;
  return { digest: stored.digest, sanitized: true, removed: stored.removed ?? [] };
}

/**
 * With an override, what is shown is another text than what has the digest. A title is shown inside of other texts, whose order
 * embeddings and isolates change too; in a body they are what texts of mixed directions need, and so are the marks.
 */
const OVERRIDES = /[\u202d\u202e]/;
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/;

function controlOf(text: string, characters: RegExp): { line: number; code: string } | undefined {
  const found = characters.exec(text);
  if (found === null) return undefined;
  return { line: text.slice(0, found.index).split('\n').length, code: codeOf(found[0]) };
}

const codeOf = (one: string): string => `U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** What shows that something else was taken for text, or that a text was read in an encoding that is not its own. */
const NO_TEXT = /[^\P{Cc}\t\n\r]|\ufffd/u;

function wrongText(body: string): string | undefined {
  const long = tooLong(body);
  if (long !== undefined) return long;
  if (!isText(body)) return 'Is no text: it has NUL or half of a surrogate pair, which UTF-8 cannot encode.';
  const found = NO_TEXT.exec(body);
  if (found !== null) {
    const line = body.slice(0, found.index).split('\n').length;
    const code = codeOf(found[0]);
    if (code === 'U+FFFD') return `Line ${line} has U+FFFD: the text was read in an encoding that is not its own.`;
    return `Line ${line} has the control character ${code}, which no text has.`;
  }
  return /\S/.test(body) ? undefined : 'Has no words.';
}

function tooLong(body: string): string | undefined {
  const bytes = Buffer.byteLength(body);
  if (bytes <= limits.consentBodyBytesMax) return undefined;
  return `Has ${bytes} bytes; at most ${limits.consentBodyBytesMax} are allowed. Publish a longer text elsewhere and give its url.`;
}

/**
 * How what is no text of its media type begins: the patterns of the WHATWG's MIME Sniffing Standard (section 7.1), behind a
 * byte order mark too, and RTF. HTML begins with more elements here than there: nobody's words do.
 */
const HTML = new RegExp(
  `^[\\ufeff\\s]*<(?:!--|!doctype|/?(?:${[...elements].join('|')}|html|head|body|title|meta|link|script|style|iframe|font|center|form|img|svg|nav|figure)[\\s/>])`,
  'i',
);
const others: readonly [what: string, begins: RegExp][] = [
  ['a PDF', /^[\ufeff\s]*%PDF-/],
  ['PostScript', /^[\ufeff\s]*%!PS-Adobe-/],
  ['RTF', /^[\ufeff\s]*\{\\rtf/],
  ['XML', /^[\ufeff\s]*<\?xml[\s?]/i],
];
const ELEMENT = /<[a-z][^<>]*>/i;

function otherMediaType(mediaType: ConsentContent['mediaType'], body: string): string | undefined {
  const other = others.find(([, begins]) => begins.test(body))?.[0];
  if (other === 'a PDF') return 'Begins as a PDF: publish it elsewhere and give its url.';
  if (other !== undefined) return `Begins as ${other}, but mediaType is ${mediaType}.`;
  if (mediaType === 'text/plain' && HTML.test(body)) return 'Begins as HTML, but mediaType is text/plain.';
  if (mediaType === 'text/html' && !ELEMENT.test(body)) return 'Has no HTML element, but mediaType is text/html.';
  return undefined;
}

/**
 * A stored body, when it is what its digest says.
 * @param of which document, for the log
 * @throws Problem consent_content_damaged
 */
export function verifiedBody({ digest }: Content, body: string | null, of: string): string {
  if (body !== null && digest === digestOf(body)) return body;
  const found = body === null ? 'no body' : `a body with the digest ${digestOf(body)}`;
  const cause = new Error(`the consent document ${of} has ${found}, and ${digest} was recorded for it`);
  throw definitionProblem('consent_content_damaged', { cause });
}
