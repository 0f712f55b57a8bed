/** The text of consent documents, written by the Config API and by manifests, and served to everybody. */
import { describe, expect, test } from 'vitest';
import type { ConsentContent, ConsentDefinitionSpec } from '../../crds/index.ts';
import { limits } from '../../server/core/limits.ts';
import { digestOf } from '../../server/definitions/content.ts';
import { applyDefinition, archiveManifestDefinition } from '../../server/definitions/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { defining } from './defining.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const day = 86_400_000;
const plain = { title: 'Terms of use', mediaType: 'text/plain', body: 'You agree.\n' } as const;
const html = { title: 'Terms of use', mediaType: 'text/html', body: '<h1>Terms</h1><p>You <b>agree</b>.</p>' } as const;
const path = '/terms/versions/1/documents/en/a';

/** A tenant with the definition terms, and its document a in English. */
async function world() {
  const config = await defining(server, clock);
  await config.put('/terms', {});
  await config.put('/terms/versions/1', config.direct);
  const putText = (content: object, inMs = 0) => config.put(path, { effectiveDate: config.from(inMs), content });
  const read = async (
    headers: Record<string, string> = {},
    document = 'terms/1/a/en',
    method: 'GET' | 'HEAD' = 'GET',
  ) => {
    const url = `/${config.tenant}/consents/documents/${document}`;
    const reply = await server.app.inject({ method, url, headers });
    return { status: reply.statusCode, headers: reply.headers, text: reply.payload };
  };
  return { ...config, putText, read };
}

describe('the Config API', () => {
  test('takes a text, shows it as it is served, and takes what it shows', async () => {
    const { tenant, put, get, putText, from } = await world();
    const told = { content: { digest: digestOf('<p>x</p>'), sanitized: true, removed: ['onclick'] } };
    const acting = { ...html, body: '<P onclick="a()">x</P>' };
    expect((await putText(acting, day)).body).toEqual(told);
    expect((await putText(acting, day)).body).toEqual(told); // and again where nothing changes
    const shown = (await get(path)).body.config;
    expect(shown.content).toEqual({ ...html, body: '<p>x</p>', digest: digestOf('<p>x</p>') });
    const audited = await asAdmin<{ detail: object }>(
      server.db.adminUrl,
      'select detail from accord.audit_entry where tenant = $1 and object_kind = $2 order by id desc limit 1',
      [tenant, 'consent_definition'],
    );
    expect(audited[0]?.detail).toMatchObject({ document: 'a', contentDigest: digestOf('<p>x</p>') });
    const { etag } = (await get(path)).headers;
    const again = await put(path, { effectiveDate: shown.effectiveDate, content: shown.content });
    expect([again.status, again.headers.etag, again.body]).toEqual([200, etag, {}]);
    // Another date leaves the text.
    expect((await put(path, { effectiveDate: from(2 * day), content: shown.content })).status).toBe(200);
    expect((await get(path)).body.config.content).toEqual(shown.content);
    // A PUT replaces the whole document.
    expect((await put(path, { effectiveDate: from(day) })).status).toBe(200);
    expect((await get(path)).body.config).toEqual({ version: 'a', language: 'en', effectiveDate: from(day) });
    const elsewhere = { title: 'Terms', mediaType: 'application/pdf', url: 'https://a.example/terms.pdf' };
    expect((await putText(elsewhere, day)).status).toBe(200);
    expect((await get(path)).body.config.content).toEqual(elsewhere);
  });

  test('spells a language tag in one way in a definition', async () => {
    const { put, direct, from } = await world();
    const at = { effectiveDate: from(day) };
    const document = (version: string, language: string) => `/terms/versions/${version}/documents/${language}/a`;
    for (const language of ['de-AT', 'doctors', '%C3%84rzte', 'de_AT', 'de-at-x'])
      expect((await put(document('1', language), at)).status).toBe(200);
    await put('/terms/versions/2', direct);
    for (const [version, language] of [
      ['1', 'de-at'],
      ['1', 'DE-AT'],
      ['2', 'de-at'],
      ['1', 'Doctors'],
    ] as const) {
      const { status, body } = await put(document(version, language), at);
      expect([status, body.code, body.errors?.[0]?.pointer]).toEqual([
        400,
        'consent_language_ambiguous',
        '/params/language',
      ]);
    }
    expect((await put(document('1', 'DE-AT'), at)).body.detail).toBe(
      'DE-AT is the language tag de-AT in another case, and another document has de-AT: write both alike.',
    );
    // What is no tag is compared as it stands, and so is a tag that is there.
    for (const [version, language] of [
      ['1', '%C3%A4rzte'],
      ['1', 'de_at'],
      ['1', 'de-AT'],
    ] as const)
      expect((await put(document(version, language), { effectiveDate: from(2 * day) })).status).toBe(200);
    expect((await put(document('2', 'de-AT'), { effectiveDate: from(3 * day) })).status).toBe(200);
  });

  test('takes no change of a text in effect, and says which', async () => {
    const { put, putText, get } = await world();
    await putText(plain, 1000);
    const { effectiveDate } = (await get(path)).body.config;
    clock.advance(999);
    const changed = { ...plain, body: 'You agree!' };
    expect((await put(path, { effectiveDate, content: changed })).status).toBe(200);
    clock.advance(1);
    const refused = await put(path, { effectiveDate, content: plain });
    expect([refused.status, refused.body.code, refused.body.errors]).toEqual([
      400,
      'document_locked',
      [
        {
          pointer: '/content/body',
          detail: `The document a in en of version 1 of terms has been in effect since ${effectiveDate} and cannot change (content.body); create a new document.`,
        },
      ],
    ]);
    const without = await put(path, { effectiveDate });
    expect([without.body.code, without.body.errors[0].pointer]).toEqual(['document_locked', '/content']);
    expect((await get(path)).body.config.content).toEqual({ ...changed, digest: digestOf(changed.body) });
  });

  test.each([
    [
      'another media type than it says',
      { ...plain, body: '<!doctype html><p>x' },
      'consent_content_invalid',
      '/content/body',
    ],
    ['both a body and a url', { ...plain, url: 'https://a.example' }, 'consent_content_invalid', '/content'],
    ['a digest that does not match', { ...plain, digest: digestOf('b') }, 'consent_content_invalid', '/content/digest'],
    ['a digest of another kind', { ...plain, digest: 'md5:1' }, 'invalid_request', '/content/digest'],
    [
      'a media type that is not served',
      { ...plain, mediaType: 'text/markdown' },
      'invalid_request',
      '/content/mediaType',
    ],
    [
      'a url of http',
      { title: 'T', mediaType: 'text/html', url: 'http://a.example' },
      'invalid_request',
      '/content/url',
    ],
    [
      'a url with a user',
      { title: 'T', mediaType: 'text/html', url: 'https://a@b.example' },
      'invalid_request',
      '/content/url',
    ],
    [
      'a url of javascript:',
      { title: 'T', mediaType: 'text/html', url: 'javascript:a()' },
      'invalid_request',
      '/content/url',
    ],
    ['a title of two lines', { ...plain, title: 'a\nb' }, 'invalid_request', '/content/title'],
    ['no title', { mediaType: 'text/plain', body: 'a' }, 'invalid_request', '/content/title'],
    ['an unknown field', { ...plain, text: 'a' }, 'invalid_request', '/content/text'],
    ['half of a surrogate pair', { ...plain, body: 'a\ud800' }, 'invalid_request', '/content/body'],
  ])('refuses %s, with its place', async (_what, content, code, pointer) => {
    const { putText } = await world();
    const { status, body } = await putText(content, day);
    expect([status, body.code, body.errors?.[0]?.pointer]).toEqual([400, code, pointer]);
  });

  test('takes a title of consentTitleCharsMax', async () => {
    const { putText } = await world();
    const title = 't'.repeat(limits.consentTitleCharsMax);
    expect((await putText({ ...plain, title }, day)).status).toBe(200);
    expect((await putText({ ...plain, title: `${title}t` }, day)).status).toBe(400);
  });

  test('takes a body of consentBodyBytesMax, however its JSON is written', async () => {
    const { put, from } = await world();
    const body = 'é'.repeat(limits.consentBodyBytesMax / 2);
    const sent = JSON.stringify({ effectiveDate: from(day), content: { ...plain, body } }).replaceAll('é', '\\u00e9');
    expect((await put(path, JSON.parse(sent))).status).toBe(200);
    expect(sent.length).toBeLessThan(limits.bodyBytesMax);
  });

  test('changes languageFallback of a definition in effect, and nothing else of it', async () => {
    const { put, get, putText } = await world();
    await putText(plain);
    expect((await put('/terms', {})).body.code).toBe('definition_locked');
    expect((await put('/terms', { languageFallback: 'lookup' })).status).toBe(200);
    expect((await get('/terms')).body.config).toEqual({ name: 'terms', languageFallback: 'lookup' });
    expect((await put('/terms', {})).body.code).toBe('definition_locked');
    expect((await put('/terms', { languageFallback: 'none' })).status).toBe(200);
    expect((await get('/terms')).body.config).toEqual({ name: 'terms' });
    expect((await put('/terms', { languageFallback: 'best' })).body.code).toBe('invalid_request');
  });
});

test('a PUT of a definition replaces it: languageFallback that is not sent is none again', async () => {
  const { put, get } = await defining(server, clock);
  await put('/news', { languageFallback: 'lookup' });
  expect((await get('/news')).body.config).toEqual({ name: 'news', languageFallback: 'lookup' });
  expect((await put('/news', {})).status).toBe(200);
  expect((await get('/news')).body.config).toEqual({ name: 'news' });
});

describe('a manifest', () => {
  async function applying() {
    const made = await defining(server, clock);
    const effectiveDate = made.from(1000);
    const spec = (
      content: ConsentContent | undefined,
      more: Partial<ConsentDefinitionSpec> = {},
    ): ConsentDefinitionSpec => ({
      tenantRef: { name: made.tenant },
      name: 'terms',
      versions: [
        {
          version: '1',
          optInConfig: { type: 'direct' },
          documents: [{ version: 'a', language: 'en', effectiveDate, ...(content && { content }) }],
        },
      ],
      managementPolicy: 'Enforce',
      adoptionPolicy: 'Refuse',
      ...more,
    });
    const services = { database: server.db.database, clock };
    const apply = (content: ConsentContent | undefined, more: Partial<ConsentDefinitionSpec> = {}) =>
      applyDefinition(services, manifestWriter, made.tenant, spec(content, more)).then(
        ({ changed }) => (changed ? 'changed' : 'same'),
        (error) => `${error.code} ${error.errors?.[0]?.pointer}`,
      );
    const archive = () => archiveManifestDefinition(services, manifestWriter, made.tenant, 'terms');
    return { ...made, apply, archive };
  }

  test('has its text changed until it is in effect, and the same text is no change', async () => {
    const { apply, get } = await applying();
    const written = { ...html, body: '<p class="intro">You <i>agree</i></p>' };
    expect(await apply(written)).toBe('changed');
    expect(await apply(written)).toBe('same');
    expect(await apply(html)).toBe('changed');
    expect(await apply(undefined)).toBe('changed');
    expect(await apply({ ...html, body: 'x' })).toBe('consent_content_invalid /versions/0/documents/0/content/body');
    expect(await apply(written)).toBe('changed');
    expect(await apply(written, { languageFallback: 'lookup' })).toBe('changed');
    expect(await apply(written, { languageFallback: 'none' })).toBe('changed');
    clock.advance(1000);
    expect(await apply(written)).toBe('same');
    expect(await apply(html)).toBe('document_locked /versions/0/documents/0/content/body');
    expect(await apply({ ...written, title: 'Other' })).toBe('document_locked /versions/0/documents/0/content/title');
    expect(await apply(undefined)).toBe('document_locked /versions/0/documents/0/content');
    expect(await apply(written, { languageFallback: 'lookup' })).toBe('changed');
    expect((await get('/terms')).body.config.languageFallback).toBe('lookup');
    expect((await get(path)).body.config.content.body).toBe('<p>You <i>agree</i></p>');
  });

  test('that is gone leaves the text where receipts name it', async () => {
    const { apply, archive, tenant } = await applying();
    await apply(plain);
    clock.advance(1000);
    await archive();
    const url = `/${tenant}/consents/documents/terms/1/a/en`;
    expect((await server.app.inject({ url })).payload).toBe(plain.body);
  });
});

describe('the address of a document', () => {
  test('serves the text as its digest says, to everybody, and nothing in it acts', async () => {
    const { putText, read } = await world();
    await putText({ ...html, body: `${html.body}<script>alert(1)</script>` });
    const { status, headers, text } = await read();
    expect([status, text]).toEqual([200, html.body]);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'en',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
      'access-control-allow-origin': '*',
      etag: `"${digestOf(text)}"`,
      'repr-digest': `sha-256=:${Buffer.from(digestOf(text).slice(7), 'hex').toString('base64')}:`,
      vary: 'accept',
    });
    const head = await read({}, 'terms/1/a/en', 'HEAD');
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', headers.etag]);
  });

  test('serves the plain text of HTML to those who prefer it', async () => {
    const { putText, read } = await world();
    await putText(html);
    for (let i = 0; i < 2; i++) {
      const { status, headers, text } = await read({ accept: 'text/plain, text/html;q=0.5' });
      expect([status, text]).toEqual([200, 'Terms\n\nYou agree.\n']);
      expect(headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        etag: `W/"${digestOf(html.body)};text/plain"`,
      });
      expect(headers).not.toHaveProperty('repr-digest');
    }
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    for (const accept of [browser, '*/*', 'text/*', 'text/html;q=0.1'])
      expect((await read({ accept })).text).toBe(html.body);
    const refused = await read({ accept: 'application/json' });
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      406,
      { code: 'consent_content_not_acceptable', detail: 'It is available as text/html and text/plain.' },
    ]);
  });

  test('keeps plainTextsKept texts that it made', async () => {
    const { put, read, from } = await world();
    const body = (n: number) => `<p>text ${n}</p>`;
    for (let n = 0; n <= limits.plainTextsKept; n++) {
      const content = { ...html, body: body(n) };
      await put(`/terms/versions/1/documents/en-${n}/a`, { effectiveDate: from(0), content });
    }
    for (let n = 0; n <= limits.plainTextsKept; n++) {
      expect((await read({ accept: 'text/plain' }, `terms/1/a/en-${n}`)).text).toBe(`text ${n}\n`);
    }
    expect((await read({ accept: 'text/plain' }, 'terms/1/a/en-0')).text).toBe('text 0\n');
  });

  test('serves plain text as it is, and is not asked again for what is known', async () => {
    const { putText, read } = await world();
    await putText(plain);
    const { headers, text } = await read();
    expect([headers['content-type'], text]).toEqual(['text/plain; charset=utf-8', plain.body]);
    expect((await read({ accept: 'text/html' })).status).toBe(406);
    for (const known of [headers.etag, `"x", W/${headers.etag}`, '*']) {
      const again = await read({ 'if-none-match': String(known) });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag]);
    }
    expect((await read({ 'if-none-match': '"x"' })).status).toBe(200);
  });

  test('redirects to a text elsewhere', async () => {
    const { putText, read } = await world();
    await putText({ title: 'Terms', mediaType: 'application/pdf', url: 'https://a.example/terms.pdf?v=1' });
    const { status, headers } = await read();
    expect([status, headers.location]).toEqual([302, 'https://a.example/terms.pdf?v=1']);
  });

  test('shows nothing before a document is in effect, and of one without a text', async () => {
    const { put, putText, read, from } = await world();
    await putText(plain, 1000);
    const codeOf = async (document?: string) => {
      const { status, text } = await read({}, document);
      return status === 200 ? 200 : JSON.parse(text).code;
    };
    expect(await codeOf()).toBe('consent_content_not_found');
    clock.advance(999);
    expect(await codeOf()).toBe('consent_content_not_found');
    clock.advance(1);
    expect(await codeOf()).toBe(200);
    await put('/terms/versions/1/documents/nl/a', { effectiveDate: from(0) });
    for (const document of ['terms/1/a/nl', 'terms/1/b/en', 'terms/2/a/en', 'other/1/a/en']) {
      expect(await codeOf(document)).toBe('consent_content_not_found');
    }
  });

  test('has names encoded, and no language that a header does not take', async () => {
    const { put, direct, from, read } = await world();
    await put('/terms%20of%20use', {});
    await put('/terms%20of%20use/versions/1', direct);
    const document = '/terms%20of%20use/versions/1/documents/%C3%B6sterreichische%20%C3%84rzte/a';
    expect((await put(document, { effectiveDate: from(0), content: plain })).status).toBe(200);
    const { status, headers } = await read({}, 'terms%20of%20use/1/a/%C3%B6sterreichische%20%C3%84rzte');
    expect([status, headers['content-language']]).toEqual([200, undefined]);
  });

  test.each([
    ['another body', "body = 'You agree to everything.'"],
    ['another digest', `content = content || '{"digest": "${digestOf('x')}"}'`],
    ['no digest', "content = content - 'digest'"],
    ['no body', 'body = null'],
  ])('shows a damaged text to nobody: %s', async (_what, change) => {
    const { putText, read, get, tenant } = await world();
    await putText(plain);
    await asAdmin(server.db.adminUrl, `update accord.consent_document set ${change} where tenant = $1`, [tenant]);
    const { status, text, headers } = await read();
    expect([status, headers['content-type']]).toEqual([500, 'application/problem+json; charset=utf-8']);
    expect(JSON.parse(text)).toMatchObject({ code: 'consent_content_damaged', title: 'Content damaged' });
    expect(text).not.toContain('You agree');
    expect((await get(path)).body.code).toBe('consent_content_damaged');
    const seen = server.observations.filter((one) => one.kind === 'request_failed').at(-1);
    expect(String((seen as { error: Error }).error.message)).toContain(`/${tenant}/consents/documents/terms/1/a/en`);
  });
});
