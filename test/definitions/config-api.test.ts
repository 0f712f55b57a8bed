/** The Config API of consent definitions: shapes, statuses, and locks to the millisecond. */
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { definitionsOf, loadDefinitions } from '../../server/definitions/index.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { defining } from './defining.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const day = 86_400_000;

describe('shapes', () => {
  test('are those of the specification', async () => {
    const { get, put, direct, from, tenant } = await defining(server, clock);
    expect((await get('')).body).toEqual({ resources: [] });
    expect((await put('/marketing', {})).body).toEqual({});
    expect((await get('')).body).toEqual({ resources: ['marketing'] });
    expect((await get('/marketing')).body).toEqual({ resources: ['versions'], config: { name: 'marketing' } });
    expect((await get('/marketing/versions')).body).toEqual({ resources: [] });
    expect((await put('/marketing/versions/1', direct)).body).toEqual({});
    expect((await get('/marketing/versions')).body).toEqual({ resources: ['1'] });
    expect((await get('/marketing/versions/1')).body).toEqual({
      resources: ['documents'],
      config: { version: '1', optInConfig: [{ type: 'direct' }] },
    });
    const ending = { startDate: from(day), endDate: from(2 * day), gracePeriod: 'P1D' };
    expect((await put('/marketing/versions/1/end-of-life', ending)).body).toEqual({});
    expect((await get('/marketing/versions/1/end-of-life')).body).toEqual({ config: ending });
    expect((await get('/marketing/versions/1')).body).toEqual({
      resources: ['documents', 'end-of-life'],
      config: { version: '1', endOfLife: ending, optInConfig: [{ type: 'direct' }] },
    });
    const effectiveDate = from(day);
    expect((await get('/marketing/versions/1/documents')).body).toEqual({ resources: [] });
    expect((await put('/marketing/versions/1/documents/en/a', { effectiveDate })).body).toEqual({});
    expect((await get('/marketing/versions/1/documents')).body).toEqual({ resources: ['en'] });
    expect((await get('/marketing/versions/1/documents/en')).body).toEqual({ resources: ['a'] });
    expect((await get('/marketing/versions/1/documents/en/a')).body).toEqual({
      config: { version: 'a', language: 'en', effectiveDate },
    });
    expect((await get('/marketing/tree')).body).toEqual({
      managedBy: 'api',
      config: { name: 'marketing' },
      versions: [
        {
          config: { version: '1', endOfLife: ending, optInConfig: [{ type: 'direct' }] },
          documents: [{ config: { version: 'a', language: 'en', effectiveDate } }],
        },
      ],
    });
    // Served before the answer.
    expect(server.services.snapshots.get(tenant)?.definitions.get('marketing')?.versions).toMatchObject([
      { version: '1', documents: [{ version: 'a', language: 'en' }] },
    ]);
  });

  test('what is not there is 404, and so is a parent', async () => {
    const { get, put, direct, from } = await defining(server, clock);
    const codes = async (answers: Promise<{ status: number; body: { code: string } }>[]) =>
      (await Promise.all(answers)).map(({ status, body }) => `${status} ${body.code}`);
    const ending = { startDate: from(day), endDate: from(2 * day), gracePeriod: 'P1D' };
    expect(
      await codes([
        get('/none'),
        get('/none/versions'),
        get('/none/tree'),
        put('/none/versions/1', direct),
        put('/none/versions/1/end-of-life', ending),
        put('/none/versions/1/documents/en/a', { effectiveDate: from(day) }),
      ]),
    ).toEqual(Array(6).fill('404 consent_definition_not_found'));
    await put('/some', {});
    expect(
      await codes([
        get('/some/versions/1'),
        get('/some/versions/1/end-of-life'),
        get('/some/versions/1/documents'),
        put('/some/versions/1/end-of-life', ending),
        put('/some/versions/1/documents/en/a', { effectiveDate: from(day) }),
      ]),
    ).toEqual(Array(5).fill('404 consent_version_not_found'));
    await put('/some/versions/1', direct);
    expect(await codes([get('/some/versions/1/end-of-life')])).toEqual(['404 end_of_life_not_found']);
    expect(await codes([get('/some/versions/1/documents/en'), get('/some/versions/1/documents/en/a')])).toEqual(
      Array(2).fill('404 consent_document_not_found'),
    );
  });

  test('lists are complete, and paged with a limit', async () => {
    const { get, define } = await defining(server, clock);
    await define('a', { '1 a en': day, '1 a nl': day, '1 b en': 2 * day, '1 c en': 3 * day, '2 a en': 4 * day });
    for (const [path, all] of [
      ['/a/versions', ['1', '2']],
      ['/a/versions/1/documents', ['en', 'nl']],
      ['/a/versions/1/documents/en', ['a', 'b', 'c']],
    ] as const) {
      expect((await get(path)).body).toEqual({ resources: all });
      const seen: string[] = [];
      for (let query = '?limit=1'; ; ) {
        const { body, headers } = await get(`${path}${query}`);
        seen.push(...body.resources);
        if (body.cursor === undefined) break;
        expect(headers.link).toContain('rel="next"');
        query = `?limit=1&cursor=${body.cursor}`;
      }
      expect(seen).toEqual(all);
    }
    const { cursor } = (await get('/a/versions?limit=1')).body;
    expect((await get(`/a/versions/1/documents?limit=1&cursor=${cursor}`)).status).toBe(400);
  });

  test('entity tags change with what they tag, and If-Match is obeyed', async () => {
    const { get, put, direct, from } = await defining(server, clock);
    await put('/a', {});
    await put('/a/versions/1', direct);
    const tag = (await get('/a/versions/1')).headers.etag as string;
    const ending = { startDate: from(day), endDate: from(2 * day), gracePeriod: 'P1D' };
    const path = '/a/versions/1/end-of-life';
    expect((await put(path, ending, { 'if-match': '*' })).status).toBe(412);
    const first = await put(path, ending);
    expect((await get('/a/versions/1')).headers.etag).not.toBe(tag);
    expect((await put(path, ending)).headers.etag).toBe(first.headers.etag);
    expect((await put(path, { ...ending, gracePeriod: 'P2D' }, { 'if-match': '"1"' })).status).toBe(412);
    const now = String(first.headers.etag);
    expect((await put(path, { ...ending, gracePeriod: 'P2D' }, { 'if-match': now })).status).toBe(200);
  });
});

describe('locks close at the instant', () => {
  test('a document, its version and its definition: one millisecond before, at, after', async () => {
    const { get, put, direct, define, from } = await defining(server, clock);
    await define('a', { '1 a en': 1000, '2 a en': day });
    const date = (await get('/a/versions/1/documents/en/a')).body.config.effectiveDate;
    const document = '/a/versions/1/documents/en/a';
    clock.advance(999);
    expect((await put(document, { effectiveDate: date })).status).toBe(200);
    expect((await put('/a/versions/1', direct)).status).toBe(200);
    expect((await put('/a', {})).status).toBe(200);
    for (const passed of [1, 1]) {
      clock.advance(passed);
      for (const [path, body, code] of [
        [document, { effectiveDate: date }, 'document_locked'],
        [document, { effectiveDate: from(day) }, 'document_locked'],
        ['/a/versions/1', direct, 'version_locked'],
        ['/a', {}, 'definition_locked'],
      ] as const) {
        const answer = await put(path, body);
        expect([answer.status, answer.body.code]).toEqual([400, code]);
      }
    }
    // What is below a locked one may grow, and what is not locked itself may change.
    expect((await put('/a/versions/2', direct)).status).toBe(200);
    expect((await put('/a/versions/3', direct)).status).toBe(200);
    expect((await put('/a/versions/1/documents/en/b', { effectiveDate: from(5) })).status).toBe(200);
    const ending = { startDate: from(day), endDate: from(2 * day), gracePeriod: 'P1D' };
    expect((await put('/a/versions/1/end-of-life', ending)).status).toBe(200);
  });

  test('an effectiveDate of now is accepted and locked at once, one before now is refused', async () => {
    const { put, direct, from } = await defining(server, clock);
    await put('/a', {});
    await put('/a/versions/1', direct);
    const document = '/a/versions/1/documents/en/a';
    const past = await put(document, { effectiveDate: from(-1) });
    expect([past.status, past.body.code, past.body.errors[0].pointer]).toEqual([400, 'date_in_past', '/effectiveDate']);
    expect((await put(document, { effectiveDate: from(0) })).status).toBe(200);
    expect((await put(document, { effectiveDate: from(0) })).body.code).toBe('document_locked');
  });

  test('an end of life, until its startDate', async () => {
    const { put, direct, from } = await defining(server, clock);
    await put('/a', {});
    await put('/a/versions/1', direct);
    const path = '/a/versions/1/end-of-life';
    const ending = { startDate: from(1000), endDate: from(2000), gracePeriod: 'PT1S' };
    const now = await put(path, { ...ending, startDate: from(0) });
    expect([now.status, now.body.code, now.body.errors[0].pointer]).toEqual([400, 'date_in_past', '/startDate']);
    expect((await put(path, ending)).status).toBe(200);
    clock.advance(999);
    const later = { ...ending, endDate: from(day) };
    expect((await put(path, later)).status).toBe(200);
    clock.advance(1);
    for (const body of [later, { ...later, startDate: from(10) }]) {
      const answer = await put(path, body);
      expect([answer.status, answer.body.code]).toEqual([400, 'end_of_life_locked']);
    }
  });

  test('of many writers at the last instant, those after it are refused, whichever server they ask', async () => {
    const { put, define, from, get } = await defining(server, clock);
    await define('a', { '1 a en': 1000 });
    const path = '/a/versions/1/documents/en/a';
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        if (i === 6) clock.advance(1000);
        return put(path, { effectiveDate: from(day + i) });
      }),
    );
    const stored = (await get(path)).body.config.effectiveDate;
    const codes = answers.map(({ status, body }) => (status === 200 ? 'ok' : body.code));
    expect(new Set(codes).size).toBeLessThanOrEqual(2);
    // One that passed moved the date on, and with it the lock; if none did, it is as it was and locked.
    if (codes.includes('ok')) expect(Date.parse(stored)).toBeGreaterThan(clock.now());
    else expect(codes).toEqual(Array(12).fill('document_locked'));
  });
});

describe('refused with the place', () => {
  test.each([
    ['an end before the start', 'end-of-life', { startDate: 2000, endDate: 1000 }, '/startDate', 'end_of_life_invalid'],
    ['an end at the start', 'end-of-life', { startDate: 2000, endDate: 2000 }, '/startDate', 'end_of_life_invalid'],
    ['a negative grace', 'end-of-life', { gracePeriod: '-P1D' }, '/gracePeriod', 'end_of_life_invalid'],
    ['a grace of two dialects', 'end-of-life', { gracePeriod: 'P1D1W' }, '/gracePeriod', 'end_of_life_invalid'],
    ['a fraction of a year', 'end-of-life', { gracePeriod: 'P1.5Y' }, '/gracePeriod', 'end_of_life_invalid'],
    ['a fraction before the end', 'end-of-life', { gracePeriod: 'PT1.5H30M' }, '/gracePeriod', 'end_of_life_invalid'],
    ['a grace in words', 'end-of-life', { gracePeriod: '30 days' }, '/gracePeriod', 'end_of_life_invalid'],
    [
      'a grace past periodCharsMax',
      'end-of-life',
      { gracePeriod: `P${'1'.repeat(limits.periodCharsMax)}D` },
      '/gracePeriod',
      'invalid_request',
    ],
    ['a start without a zone', 'end-of-life', { startDate: '2999-01-01T00:00:00' }, '/startDate', 'invalid_request'],
    ['an end on 30 February', 'end-of-life', { endDate: '2999-02-30T00:00:00Z' }, '/endDate', 'invalid_request'],
    ['no grace', 'end-of-life', { gracePeriod: undefined }, '/gracePeriod', 'invalid_request'],
    [
      'a date without a zone',
      'documents/en/a',
      { effectiveDate: '2999-01-01T00:00:00' },
      '/effectiveDate',
      'invalid_request',
    ],
    [
      'a date of 29 February 2999',
      'documents/en/a',
      { effectiveDate: '2999-02-29T00:00:00Z' },
      '/effectiveDate',
      'invalid_request',
    ],
    ['no date', 'documents/en/a', { effectiveDate: undefined }, '/effectiveDate', 'invalid_request'],
    [
      'a field that nobody declared',
      'documents/en/a',
      { effectiveDat: 'x' },
      '/effectiveDat',
      'consent_attributes_invalid',
    ],
    ['a double opt-in', '', { optInConfig: { type: 'double' } }, '/optInConfig/type', 'invalid_request'],
    ['a list of opt-ins', '', { optInConfig: [{ type: 'direct' }] }, '/optInConfig', 'invalid_request'],
    ['no opt-in', '', { optInConfig: undefined }, '/optInConfig', 'invalid_request'],
  ])('%s', async (_, path, change, pointer, code) => {
    const { put, direct, from } = await defining(server, clock);
    await put('/a', {});
    await put('/a/versions/1', direct);
    const given = { startDate: from(1000), endDate: from(2000), gracePeriod: 'P1D', effectiveDate: from(1000) };
    const fields =
      path === '' ? [] : path === 'end-of-life' ? ['startDate', 'endDate', 'gracePeriod'] : ['effectiveDate'];
    const right =
      path === '' ? direct : Object.fromEntries(fields.map((field) => [field, given[field as keyof typeof given]]));
    const changed = Object.fromEntries(
      Object.entries(change).map(([name, value]) => [name, typeof value === 'number' ? from(value) : value]),
    );
    const answer = await put(`/a/versions/1${path === '' ? '' : `/${path}`}`, { ...right, ...changed });
    expect([answer.status, answer.body.code, answer.body.errors[0].pointer]).toEqual([400, code, pointer]);
  });

  test('a grace of fractions, and one of periodCharsMax, are taken and shown as they came', async () => {
    const { put, get, direct, from } = await defining(server, clock);
    await put('/a', {});
    await put('/a/versions/1', direct);
    const longest = 'P9999Y9999M9999W9999DT9999H9999M9999.123456789S';
    expect(longest).toHaveLength(limits.periodCharsMax);
    for (const gracePeriod of ['PT1.5H', 'P0,5W', longest]) {
      const body = { startDate: from(1000), endDate: from(2000), gracePeriod };
      expect(await put('/a/versions/1/end-of-life', body)).toMatchObject({ status: 200, body: {} });
      expect((await get('/a/versions/1/end-of-life')).body.config.gracePeriod).toBe(gracePeriod);
    }
  });

  test('two documents of a language that take effect together, in whatever version', async () => {
    const { put, define, from } = await defining(server, clock);
    await define('a', { '1 a en': 1000, '2 a nl': 1000 });
    for (const [i, path] of ['/a/versions/1/documents/en/b', '/a/versions/2/documents/en/a'].entries()) {
      const answer = await put(path, { effectiveDate: from(1000) });
      expect([answer.status, answer.body.code, answer.body.errors[0].pointer]).toEqual([
        400,
        'effective_date_taken',
        '/effectiveDate',
      ]);
      expect((await put(path, { effectiveDate: from(1001 + i) })).status).toBe(200);
    }
  });

  test('names at their bounds and past them', async () => {
    const { put, direct, from } = await defining(server, clock);
    const text = (length: number) => 'n'.repeat(length);
    const { consentNameCharsMax, consentVersionCharsMax, consentLanguageCharsMax } = limits;
    const name = text(consentNameCharsMax);
    expect((await put(`/${name}n`, {})).body).toMatchObject({ code: 'consent_name_invalid', status: 400 });
    expect((await put(`/${name}`, {})).status).toBe(200);
    const version = text(consentVersionCharsMax);
    expect((await put(`/${name}/versions/${version}n`, direct)).status).toBe(400);
    expect((await put(`/${name}/versions/${version}`, direct)).status).toBe(200);
    const language = text(consentLanguageCharsMax);
    const documents = `/${name}/versions/${version}/documents`;
    const body = { effectiveDate: from(day) };
    expect((await put(`${documents}/${language}n/a`, body)).status).toBe(400);
    expect((await put(`${documents}/${language}/${version}n`, body)).status).toBe(400);
    expect((await put(`${documents}/${language}/${version}`, body)).status).toBe(200);
    expect((await put('/a%2Fb', {})).status).toBe(400);
  });

  test('more versions than consentVersionsMax, documents than consentDocumentsMax, definitions than definitionsMax', async () => {
    const { put, direct, tenant, from } = await defining(server, clock);
    await put('/a', {});
    await put('/a/versions/0', direct);
    await server.db.database.tenant(tenant, async (tx) => {
      await tx.run(sql`insert into accord.consent_version (tenant, definition, version, revision)
        select ${tenant}, 'a', n::text, 1 from generate_series(1, ${limits.consentVersionsMax - 2}) n`);
      await tx.run(sql`insert into accord.consent_document (tenant, definition, version, language, document, effective_date, revision)
        select ${tenant}, 'a', '0', 'en', n::text, now() + n * interval '1 day', 1 from generate_series(1, ${limits.consentDocumentsMax - 1}) n`);
      await tx.run(sql`insert into accord.consent_definition (tenant, name, revision, owner, updated_by)
        select ${tenant}, n::text, 1, '{"source":"api"}', 'test' from generate_series(1, ${limits.definitionsMax - 2}) n`);
    });
    const statuses = async (path: (n: string) => string, body: object) => [
      (await put(path('x'), body)).status,
      (await put(path('y'), body)).body.code,
    ];
    const past = [200, 'definition_quota_reached'];
    expect(await statuses((n) => `/a/versions/${n}`, direct)).toEqual(past);
    expect(await statuses((n) => `/a/versions/0/documents/nl${n}/a`, { effectiveDate: from(12345) })).toEqual(past);
    expect(await statuses((n) => `/${n}`, {})).toEqual(past);
  });
});

describe('custom attributes', () => {
  const declared = [
    { object: 'definition', name: 'purpose', type: 'string', required: true },
    { object: 'version', name: 'weight', type: 'number', required: false },
    { object: 'document', name: 'url', type: 'string', required: true },
    { object: 'document', name: 'reviewed', type: 'date', required: false },
  ] as const;

  test('are taken as the tenant declares them, and shown', async () => {
    const { get, put, direct, from } = await defining(server, clock, [...declared]);
    const missing = await put('/a', {});
    expect([missing.status, missing.body.code, missing.body.errors[0].pointer]).toEqual([
      400,
      'consent_attributes_invalid',
      '/purpose',
    ]);
    expect((await put('/a', { purpose: 1 })).body.errors[0].pointer).toBe('/purpose');
    expect((await put('/a', { purpose: 'x', weight: 1 })).body.errors[0].pointer).toBe('/weight');
    expect((await put('/a', { purpose: ['x'] })).status).toBe(400);
    expect((await put('/a', { purpose: 'newsletter' })).status).toBe(200);
    expect((await get('/a')).body.config).toEqual({ name: 'a', purpose: 'newsletter' });
    expect((await put('/a/versions/1', { ...direct, weight: 3 })).status).toBe(200);
    expect((await get('/a/versions/1')).body.config).toMatchObject({ weight: 3 });
    expect((await put('/a/versions/1', direct)).status).toBe(200);
    expect((await get('/a/versions/1')).body.config).not.toHaveProperty('weight');
    const path = '/a/versions/1/documents/en/a';
    const effectiveDate = from(day);
    expect((await put(path, { effectiveDate })).body.errors[0].pointer).toBe('/url');
    expect(
      (await put(path, { effectiveDate, url: 'u', reviewed: '2026-02-30T00:00:00Z' })).body.errors[0].pointer,
    ).toBe('/reviewed');
    expect((await put(path, { effectiveDate, url: 'u', reviewed: '2026-02-28T00:00:00Z' })).status).toBe(200);
    expect((await get(path)).body.config).toMatchObject({ url: 'u', reviewed: '2026-02-28T00:00:00Z' });
  });
});

describe('who may', () => {
  test.each([
    ['security-admin', 200, 200],
    ['config-editor', 200, 200],
    ['config-viewer', 403, 200],
    ['support', 403, 200],
  ] as const)('%s', async (role, writing, reading) => {
    const { call, put } = await defining(server, clock);
    await put('/a', {});
    expect((await call('PUT', '/b', {}, {}, role)).status).toBe(writing);
    expect((await call('GET', '/a', undefined, {}, role)).status).toBe(reading);
  });

  test('what is stored loads as it is served', async () => {
    const { define, tenant } = await defining(server, clock);
    await define('a', { '1 a en': 0, '1 a nl': 1 });
    const stored = await server.db.database.system((tx) => loadDefinitions(tx));
    expect(definitionsOf(stored.filter((one) => one.tenant === tenant))).toEqual(
      server.services.snapshots.get(tenant)?.definitions,
    );
  });
});
