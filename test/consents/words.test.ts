/** Users and the texts of documents: which digest an answer, a consent, the ledger and a receipt have, and in which language. */
import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { seedConsents } from '../../server/consents/index.ts';
import { limits } from '../../server/core/limits.ts';
import { sealWaiting } from '../../server/ledger/index.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { consenting, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const html = '<p>You <b>agree</b>.</p>';
const digest = `sha256:${hash('sha256', html, 'hex')}`;

/** A tenant whose document a of version 1 of news has a text in English, and whose document in Dutch has none. */
async function world() {
  const made = await consenting(server, clock);
  await made.define('news', { '1 a nl': 0 });
  const content = { title: 'News', mediaType: 'text/html', body: html };
  const put = await made.put('/news/versions/1/documents/en/a', { effectiveDate: made.from(0), content });
  expect(put.status).toBe(200);
  return made;
}

describe('the digest of what is served stands', () => {
  test('in the answer of active and of outstanding, with the address', async () => {
    const { tenant, user, admin } = await world();
    const url = `http://accord.test/${tenant}/consents/documents/news/1/a/en`;
    const content = { title: 'News', mediaType: 'text/html', digest, url };
    const { body } = await user('alice')('GET', '/active?name=news&language=en');
    expect(body).toEqual({
      ...{ name: 'news', version: '1', document: { version: 'a', language: 'en' }, status: 'required', content },
    });
    expect((await admin('GET', '/active?name=news&language=en')).body).toMatchObject({ status: 'active', content });
    expect((await user('alice')('GET', '/outstanding?language=en')).body.consents).toMatchObject([{ content }]);
    expect((await user('alice')('GET', '/active?name=news&language=nl')).body).not.toHaveProperty('content');
    const served = await server.app.inject({ url: new URL(url).pathname });
    expect(`sha256:${hash('sha256', served.rawPayload, 'hex')}`).toBe(digest);
    // What is answered can be sent back.
    const { name, version, document } = body;
    expect((await user('alice')('POST', '', { name, version, document })).status).toBe(201);
  });

  test('in the consent, in its entry of the ledger, which verifies, and in its receipt', async () => {
    const { tenant, user, admin } = await world();
    const given = await user('alice')('POST', '', item('news', '1 a en'));
    expect(given.body).toMatchObject({ contentDigest: digest });
    expect((await user('alice')('POST', '', item('news', '1 a en'))).body).toEqual(given.body);
    await user('alice')('POST', '', item('news', '1 a nl'));
    await user('bob')('POST', '/refusals', item('news', '1 a en'));
    expect((await user('alice')('GET', '/me')).body.consents).toMatchObject([
      { document: { language: 'nl' } },
      { document: { language: 'en' }, contentDigest: digest },
    ]);
    await sealWaiting(server.services.ledger);
    const { logs } = (await admin('GET', '/events?limit=50')).body;
    const digests = logs.map((one: Record<string, string>) => `${one.type} ${one.outcome} ${one.contentDigest ?? '-'}`);
    expect(digests.reverse()).toEqual([
      `registered registered ${digest}`,
      `registered already_given ${digest}`,
      'registered registered -',
      `refused refused ${digest}`,
      'read listed -',
    ]);
    expect((await admin('GET', '/events/verify')).body).toMatchObject({ valid: true });
    const { receipt } = (await user('alice')('GET', `/${given.body.id}/receipt`)).body;
    const said = JSON.parse(Buffer.from(receipt.split('.')[1], 'base64url').toString());
    const notice = said['dpv:hasRecordOfActivity']['dpv:hasNotice'];
    expect(notice['@id']).toBe(`http://accord.test/${tenant}/consents/documents/news/1/a/en`);
    expect(`sha256:${notice['spdx:checksum']['spdx:checksumValue']}`).toBe(digest);
    const served = await server.app.inject({ url: new URL(notice['@id']).pathname });
    expect(`sha256:${hash('sha256', served.rawPayload, 'hex')}`).toBe(digest);
  });

  test.each([
    ['text of several lines and scripts', 'text/plain', '\ufeffJe gaat akkoord.\r\n\tמסכים é\n', undefined],
    ['HTML that is sanitized', 'text/html', '<P onclick="a()">You agree.<script>b()</script></P>', undefined],
    ['HTML that states the digest of what was written', 'text/html', '<p onclick=a()>x', 'source'],
  ])('for %s, and is that of the bytes that are served', async (_, mediaType, body, stated) => {
    const { tenant, user, put, from, admin } = await world();
    const given = { title: 'News', mediaType, body };
    const content = stated ? { ...given, digest: `sha256:${hash('sha256', body, 'hex')}` } : given;
    await put('/news/versions/1/documents/en/b', { effectiveDate: from(1), content });
    clock.advance(1);
    const served = await server.app.inject({ url: `/${tenant}/consents/documents/news/1/b/en` });
    const found = `sha256:${hash('sha256', served.rawPayload, 'hex')}`;
    const repr = Buffer.from(String(served.headers['repr-digest']).slice('sha-256=:'.length, -1), 'base64');
    expect([`sha256:${repr.toString('hex')}`, served.headers.etag]).toEqual([found, `"${found}"`]);
    expect((await user('alice')('GET', '/active?name=news&language=en')).body.content.digest).toBe(found);
    const { body: consent } = await user('alice')('POST', '', item('news', '1 b en'));
    expect(consent.contentDigest).toBe(found);
    expect((await admin('GET', '/events?type=registered')).body.logs[0].contentDigest).toBe(found);
    const { receipt } = (await user('alice')('GET', `/${consent.id}/receipt`)).body;
    expect(Buffer.from(receipt.split('.')[1], 'base64url').toString()).toContain(found.slice('sha256:'.length));
  });

  test('in a consent that was given elsewhere where it says so', async () => {
    const { tenant, admin } = await world();
    const seed = (userId: string, more = {}) =>
      JSON.stringify({ userId, ...item('news', '1 a en'), givenAt: '2025-01-01T00:00:00Z', ...more });
    const lines = [seed('a', { contentDigest: digest }), seed('b'), seed('c', { contentDigest: 'x' })];
    expect(await seedConsents(server.services.consents, tenant, lines)).toMatchObject([{ line: 3 }]);
    const { consents } = (await admin('GET', '')).body;
    const given = new Map(consents.map((one: { userId: string }) => [one.userId, one]));
    expect(given.get('a')).toMatchObject({ contentDigest: digest });
    expect(given.get('b')).not.toHaveProperty('contentDigest');
  });
});

describe('the language', () => {
  const active = (language: string) => `/active?name=news&language=${language}`;

  test('is the one that is asked for; where nothing is in it, the others are told', async () => {
    const { user } = await world();
    for (const asked of ['en-GB', 'fr']) {
      const { status, body } = await user('alice')('GET', active(asked));
      expect([status, body.code, body.errors]).toEqual([
        404,
        'consent_not_active',
        [
          {
            pointer: '/query/language',
            detail: `Nothing of news is active in ${asked} now. The languages that there are: en, nl.`,
          },
        ],
      ]);
    }
  });

  test.each([
    ['en-GB', 'en'],
    ['EN-gb-oxendict', 'en'],
    ['nl', 'nl'],
    ['zh-Hant-TW', 'zh-Hant'],
    ['zh-TW', undefined],
    ['fr', undefined],
    ['*', undefined],
  ])('%s is looked up where the definition says so: %s', async (asked, found) => {
    const { user, define, put, from } = await world();
    await put('/news/versions/1/documents/zh-Hant/a', { effectiveDate: from(0) });
    await put('/news/versions/1/documents/zh/a', { effectiveDate: from(5000) });
    await define('other', { '1 a en': 0 });
    await put('/news', { languageFallback: 'lookup' });
    const { status, body } = await user('alice')('GET', active(asked));
    expect([status, body.document?.language]).toEqual([found === undefined ? 404 : 200, found]);
    const { consents } = (await user('alice')('GET', `/outstanding?language=${asked}`)).body;
    expect(consents.map((one: { document: { language: string } }) => one.document.language)).toEqual(
      found ? [found] : [],
    );
  });

  test.each([
    ['zh-Hant-TW', 'zh-Hant'],
    ['ZH-hant-tw', 'zh-Hant'],
    ['zh-Hans', 'zh'],
    ['clinic of zh-Hant', undefined],
  ])('%s is looked up in the most specific tag that there is: %s', async (asked, found) => {
    const { user, put, from } = await world();
    for (const tag of ['zh', 'zh-Hant']) await put(`/news/versions/1/documents/${tag}/a`, { effectiveDate: from(0) });
    await put('/news', { languageFallback: 'lookup' });
    clock.advance(1000);
    const { status, body } = await user('alice')('GET', active(encodeURIComponent(asked)));
    expect([status, body.document?.language]).toEqual([found === undefined ? 404 : 200, found]);
  });

  test('of a first invitation is looked up too', async () => {
    const { user, define, end, put } = await consenting(server, clock);
    await define('news', { '1 a en': 0, '2 a en': 1000 });
    await put('/news', { languageFallback: 'lookup' });
    await user('alice')('POST', '', item('news', '1 a en'));
    await end('news', '1', { startDate: 2000, endDate: 100_000, gracePeriod: 'PT50S' });
    clock.advance(3000);
    const { body } = await user('alice')('GET', active('en-US'));
    expect(body).toMatchObject({ version: '2', document: { language: 'en' }, status: 'grace' });
  });

  test('that is not there is answered with at most consentLanguagesShownMax others', async () => {
    const { user, admin, define, put, direct, from } = await consenting(server, clock);
    await define('news', {});
    await put('/news/versions/1', direct);
    const most = limits.consentLanguagesShownMax;
    const detailOf = async () => (await user('alice')('GET', active('fr'))).body.detail;
    expect(await detailOf()).toBe('Nothing of news is active now, in any language.');
    for (let n = 0; n <= most; n++) {
      await put(`/news/versions/1/documents/x${String(n).padStart(3, '0')}/a`, { effectiveDate: from(0) });
      if (n === most - 1) expect(await detailOf()).toMatch(/, x063\.$/);
    }
    expect(await detailOf()).toMatch(/, x063 and 1 more\.$/);
    expect((await admin('GET', active('x064'))).status).toBe(200);
  });
});

describe('outstanding in a language that a definition does not have', () => {
  test('says in which languages an answer is needed, until it is given in one of them', async () => {
    const { user, define } = await world();
    await define('terms', { '1 a en': 0 });
    const alice = user('alice');
    const outstanding = async (query: string) => (await alice('GET', `/outstanding?language=${query}`)).body;
    expect(await outstanding('fr')).toEqual({
      consents: [],
      inOtherLanguages: [
        { name: 'news', languages: ['en', 'nl'] },
        { name: 'terms', languages: ['en'] },
      ],
    });
    expect(await outstanding('nl&names=news')).not.toHaveProperty('inOtherLanguages');
    expect(await outstanding('nl')).toMatchObject({
      consents: [{ name: 'news' }],
      inOtherLanguages: [{ name: 'terms', languages: ['en'] }],
    });
    await alice('POST', '', [item('news', '1 a nl'), item('terms', '1 a en')]);
    expect(await outstanding('fr')).toEqual({ consents: [] });
  });
});
