/** The text of a consent document: what is taken for one, what is stored of it, and what its digest is of. */
import { describe, expect, test } from 'vitest';
import type { ConsentContent } from '../../crds/index.ts';
import { limits } from '../../server/core/limits.ts';
import { changedContent, contentPlan, digestOf, verifiedBody, wrongContent } from '../../server/definitions/content.ts';
import { refusalOf } from '../helpers/problem.ts';

const text = (body: string, more: Partial<ConsentContent> = {}): ConsentContent => ({
  ...{ title: 'Terms', mediaType: 'text/plain', body, ...more },
});
const html = (body: string, more: Partial<ConsentContent> = {}) => text(body, { mediaType: 'text/html', ...more });
const elsewhere = (more: Partial<ConsentContent> = {}): ConsentContent => ({
  ...{ title: 'Terms', mediaType: 'application/pdf', url: 'https://a.example/terms.pdf', ...more },
});
const placesOf = (given: ConsentContent) =>
  [wrongContent(given, '/c') ?? []].flat().map((one) => `${one.pointer}: ${one.detail}`);

test('a digest is SHA-256 of the UTF-8, as sha256sum prints it', () => {
  expect(digestOf('é')).toBe('sha256:4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
  expect(digestOf('')).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

describe('a content is taken', () => {
  test.each([
    ['a text', text('You agree.\n\n\tTo everything.\r\n')],
    ['a text that only talks of HTML', text('Write <p> for a paragraph.')],
    ['a text that begins with a comparison', text('<18 years: your parents agree.')],
    ['a text that begins with an address', text('<privacy@a.example> answers questions.')],
    ['a text of marks and bidi', text('\u200fמסכים\u200e 👍\u{1f3fd}')],
    ['a text of embeddings and isolates', text('\u202bמסכים\u202c \u2067ל-\u2066Terms\u2069\u2069')],
    ['a text with its digest', text('You agree.', { digest: digestOf('You agree.') })],
    ['HTML', html('<p>You agree.</p>')],
    ['a page of HTML', html('<!doctype html><html><head><title>T</title></head><body>You agree.<br></body></html>')],
    ['HTML with the digest of what was written', html('<p onclick=a()>x', { digest: digestOf('<p onclick=a()>x') })],
    ['HTML with the digest of what is served', html('<p onclick=a()>x', { digest: digestOf('<p>x</p>') })],
    ['a url', elsewhere()],
    ['a url with a digest, which nobody checks', elsewhere({ digest: digestOf('what its author says') })],
  ])('%s', (_what, given) => {
    expect(placesOf(given)).toEqual([]);
  });

  test('of consentBodyBytesMax in UTF-8', () => {
    expect(placesOf(text('é'.repeat(limits.consentBodyBytesMax / 2)))).toEqual([]);
    const [long] = placesOf(text(`${'é'.repeat(limits.consentBodyBytesMax / 2)}.`));
    expect(long).toBe(
      '/c/body: Has 65537 bytes; at most 65536 are allowed. Publish a longer text elsewhere and give its url.',
    );
    const marks = html(`<p>${'&'.repeat(limits.consentBodyBytesMax / 5)}</p>`);
    expect(placesOf(marks)).toEqual([expect.stringMatching(/^\/c\/body: Has 655\d\d bytes; .* as it is served\.$/)]);
  });
});

describe('a content is refused', () => {
  const nothing = { title: 'Terms', mediaType: 'text/plain' } as const;
  test.each([
    ['neither body nor url', nothing, '/c: Must have either a body or a url.'],
    ['both', text('a', { url: 'https://a.example' }), '/c: Must have either a body or a url.'],
    ['a body that says it is a PDF', text('a', { mediaType: 'application/pdf' }), /^\/c\/mediaType: .*named by url/],
    ['blanks', text(' \n\t'), '/c/body: Has no words.'],
    [
      'a control character',
      text('a\nb\u0007c'),
      '/c/body: Line 2 has the control character U+0007, which no text has.',
    ],
    [
      'an override of direction',
      text('You\nagree \u202eton\u202c.'),
      /^\/c\/body: Line 2 has U\+202E, which shows letters/,
    ],
    ['one that HTML writes as a reference', html('<p>a&#x202D;b</p>'), /^\/c\/body: Line 1 has U\+202D/],
    ['an isolate in a title', text('a', { title: 'Terms \u2067of\u2069 use' }), /^\/c\/title: Has U\+2067/],
    ['an override in the title of a url', elsewhere({ title: '\u202eTerms' }), /^\/c\/title: Has U\+202E/],
    ['one of Windows-1252 read as Latin-1', text('\u0093quoted\u0094'), /U\+0093/],
    ['one in HTML', html('<p>a\u0000</p>'), /^\/c\/body: Is no text: it has NUL/],
    ['half of a surrogate pair', text('a\ud800'), /half of a surrogate pair/],
    ['a text of bytes that were no UTF-8', text('na\ufffdve'), /^\/c\/body: Line 1 has U\+FFFD: .*encoding/],
    [
      'a text that begins as HTML',
      text('\n <!DOCTYPE html>\n<p>x'),
      '/c/body: Begins as HTML, but mediaType is text/plain.',
    ],
    ['one that begins with an element', text('<p class="a">x</p>'), /Begins as HTML/],
    ['one that begins with a comment', text('<!-- x -->\nYou agree.'), /Begins as HTML/],
    ['a PDF as text', text('%PDF-1.7\n…'), /Begins as a PDF/],
    ['a PDF as HTML', html('%PDF-1.7\n<p>'), /Begins as a PDF/],
    ['a PDF behind a byte order mark', text('\ufeff\n%PDF-1.7\n…'), /Begins as a PDF/],
    ['RTF', text('{\\rtf1\\ansi You agree.}'), '/c/body: Begins as RTF, but mediaType is text/plain.'],
    ['RTF as HTML', html('{\\rtf1\\ansi <b>You</b> agree.}'), '/c/body: Begins as RTF, but mediaType is text/html.'],
    ['PostScript', text('%!PS-Adobe-3.0\n'), /Begins as PostScript/],
    ['XML', text('<?xml version="1.0"?><terms/>'), /Begins as XML/],
    ['HTML behind a byte order mark', text('\ufeff<!DOCTYPE html><p>x'), /Begins as HTML/],
    ['a part of HTML', text('<h2>Terms</h2><ul><li>You agree.</li></ul>'), /Begins as HTML/],
    ['a section of HTML', text('\n<section class="a">You agree.</section>'), /Begins as HTML/],
    ['bytes of a ZIP', text('PK\u0003\u0004'), /control character U\+0003/],
    [
      'a digest of neither the HTML that was sent nor of what is served',
      html('<p onclick=a()>x', { digest: digestOf('x') }),
      `/c/digest: Is not the digest of the body, which is ${digestOf('<p onclick=a()>x')}, nor of what is served of it, sanitized, which is ${digestOf('<p>x</p>')}.`,
    ],
    ['HTML without an element', html('You agree.'), '/c/body: Has no HTML element, but mediaType is text/html.'],
    ['HTML of nothing to read', html('<script>alert(1)</script><img src=x>'), /no words left when it is sanitized/],
    [
      'the digest of another body',
      text('a', { digest: digestOf('b') }),
      `/c/digest: Is not the digest of the body, which is ${digestOf('a')}.`,
    ],
  ])('%s', (_what, given, refusal) => {
    const [place] = placesOf(given);
    expect(place).toEqual(typeof refusal === 'string' ? refusal : expect.stringMatching(refusal));
    expect(refusalOf(() => contentPlan(undefined, given, '/d'))?.code).toBe('consent_content_invalid');
  });
});

describe('what is stored', () => {
  test('of a text is the text, of HTML what is left of it, with the digest of what is served', () => {
    expect(contentPlan(undefined, text('a'), '')).toEqual({
      ...{ content: { title: 'Terms', mediaType: 'text/plain', digest: digestOf('a') }, body: 'a' },
    });
    const written = '<P onclick="a()">x</P>';
    expect(contentPlan(undefined, html(written), '')).toEqual({
      content: {
        ...{ title: 'Terms', mediaType: 'text/html', digest: digestOf('<p>x</p>'), source: digestOf(written) },
        removed: ['onclick'],
      },
      body: '<p>x</p>',
    });
    expect(contentPlan(undefined, elsewhere(), '')).toEqual({
      content: { title: 'Terms', mediaType: 'application/pdf', url: 'https://a.example/terms.pdf' },
      body: null,
    });
  });

  test('stays as it is, whichever way it is written, and whatever would be made of it today', () => {
    const stored = {
      title: 'Terms',
      mediaType: 'text/html',
      digest: digestOf('<p>x</p>'),
      source: digestOf('%PDF-'),
    } as const;
    expect(contentPlan(stored, html('<p>x</p>'), '')).toEqual({ content: stored });
    expect(contentPlan(stored, html('%PDF-'), '')).toEqual({ content: stored });
    expect(contentPlan(stored, html('<p>y</p>'), '')).toMatchObject({ body: '<p>y</p>' });
    expect(contentPlan(stored, undefined, '')).toEqual({ body: null });
    expect(contentPlan(undefined, undefined, '')).toEqual({});
  });

  test.each([
    ['content', undefined],
    ['content/title', text('a', { title: 'Other' })],
    ['content/mediaType', html('a')],
    ['content/body', text('b')],
    ['content/digest', text('a', { digest: digestOf('b') })],
    ['content/url', { title: 'Terms', mediaType: 'text/plain', url: 'https://a.example' } as const],
  ])('differs in %s', (field, given) => {
    const { content } = contentPlan(undefined, text('a'), '');
    expect(changedContent(content, given)).toBe(field);
    expect(changedContent(content, text('a'))).toBeUndefined();
  });

  test('elsewhere differs by its url and by the digest that is stated', () => {
    const { content } = contentPlan(undefined, elsewhere({ digest: digestOf('a') }), '');
    expect(changedContent(content, elsewhere({ digest: digestOf('a') }))).toBeUndefined();
    expect(changedContent(content, elsewhere())).toBe('content/digest');
    expect(changedContent(content, elsewhere({ url: 'https://b.example/' }))).toBe('content/url');
  });
});

test('a body is shown only when it is what its digest says', () => {
  const content = { title: 'Terms', mediaType: 'text/plain', digest: digestOf('a') } as const;
  expect(verifiedBody(content, 'a', 'terms/1')).toBe('a');
  for (const body of ['b', '', null]) {
    expect(refusalOf(() => verifiedBody(content, body, 'terms/1'))?.code).toBe('consent_content_damaged');
  }
});
