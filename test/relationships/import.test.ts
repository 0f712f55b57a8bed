/** Importing and exporting relationships: broken lines, interruptions, limits, and what comes out again. */
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { seedEntities } from '../../server/relationships/index.ts';
import { outageOf } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { sharingTenant } from './sharing.ts';

const server = await createTestServer();
const cars = await sharingTenant(server);
const ndjson = 'application/x-ndjson';
const drives = (from: string, to: string, more = {}) =>
  JSON.stringify({
    from: { type: 'user', id: from },
    relationshipType: 'drives',
    to: { type: 'car', id: to },
    ...more,
  });
const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => drives(`${prefix}${i}`, `${i % 7}`));

async function send(lines: readonly string[], query = '', tenant = cars) {
  const { status, body } = await tenant.backend('POST', `/relationships/import${query}`, {
    raw: lines.join('\n'),
    type: ndjson,
  });
  return { status, body };
}
const audited = (tenant: string) =>
  server.services.database.tenant(tenant, (tx) =>
    tx.many(
      Type.Object({ object_name: Type.String() }),
      sql`select object_name from accord.audit_entry where action = 'import'`,
    ),
  );

test('actors and resources of a seed come before its import, once, and what is wrong is refused by its line', async () => {
  const { tenant, backend, config } = await sharingTenant(server);
  const attributes = { displayName: { type: 'string' } };
  expect((await config('PUT', '/actor-types/user', { body: { attributes } })).status).toBe(200);
  const lines = [
    '{"type":"user","id":"alice","displayName":"Alice"}',
    '{"type":"user","id":"bob","age":7}',
    '{"type":"planet","id":"mars"}',
    'null',
    '',
    '{"type":"user"',
  ];
  const refused = await seedEntities(server.services.relationships, tenant, 'seed', lines);
  expect(refused.map(({ line }) => line)).toEqual([2, 3, 4, 6]);
  const alice = { status: 200, body: { type: 'user', id: 'alice', displayName: 'Alice' } };
  expect(await backend('GET', '/actors/user/alice')).toMatchObject(alice);
  expect((await backend('GET', '/actors/user/bob')).status).toBe(404);
  expect(
    (await backend('POST', '/relationships/import?importId=seed', { raw: drives('a', '1'), type: ndjson })).status,
  ).toBe(200);
  expect((await backend('DELETE', '/actors/user/alice')).status).toBe(204);
  expect(await seedEntities(server.services.relationships, tenant, 'seed', lines)).toEqual([]);
  expect((await backend('GET', '/actors/user/alice')).status).toBe(404);
});

describe('import', () => {
  test('writes what is right, counts, and is one audit entry', async () => {
    const other = await sharingTenant(server);
    const count = limits.importBatchLinesMax * 2 + 11;
    const first = await send(many(count, 'u'), '?importId=first', other);
    expect(first).toMatchObject({
      status: 200,
      body: { importId: 'first', lines: count, created: count, updated: 0, unchanged: 0, refused: 0, errors: [] },
    });
    expect(first.body.finishedAt).toBeDefined();
    const again = await send(many(count, 'u'), '', other);
    expect(again.body).toMatchObject({ lines: count, created: 0, unchanged: count });
    expect((await audited(other.tenant)).map((row) => row.object_name)).toContain('first');
    expect(await audited(other.tenant)).toHaveLength(2);
    const exported = await other.backend('GET', '/relationships/export');
    expect(exported.headers['content-type']).toBe(ndjson);
    const lines = exported.text.trimEnd().split('\n');
    expect(lines.sort()).toEqual(many(count, 'u').sort());
  });

  test('refuses broken lines by number and place, and writes the others', async () => {
    const future = new Date(server.services.clock.now() + 3_600_000).toISOString();
    const lines = [
      drives('good1', '1'),
      '{"from":',
      '[]',
      '',
      JSON.stringify({ from: { type: 'user', id: 'a' }, relationshipType: 'drives' }),
      drives('a', '1', { expires: 'x' }),
      drives('a', '1', { expiresAt: '2020-01-01T00:00:00Z' }),
      drives('a', '1', { expiresAt: '2031-02-30T00:00:00Z' }),
      JSON.stringify({ from: { type: 'user', id: 'a' }, relationshipType: 'flies', to: { type: 'car', id: '1' } }),
      JSON.stringify({
        from: { type: 'user', id: 'a', x: 1 },
        relationshipType: 'drives',
        to: { type: 'car', id: '1' },
      }),
      drives('', '1'),
      drives('x'.repeat(limits.entityIdBytesMax + 1), '1'),
      drives('x', 'y'.repeat(limits.importLineBytesMax)),
      drives('good2', '1', { expiresAt: future }),
      'null',
    ];
    const { status, body } = await send(lines, '?importId=broken');
    expect(status).toBe(200);
    expect(body).toMatchObject({ lines: 15, created: 2, refused: 12 });
    expect(
      body.errors.map(({ line, pointer = '' }: { line: number; pointer?: string }) => `${line} ${pointer}`),
    ).toEqual([
      '2 ',
      '3 ',
      '5 /to',
      '6 /expires',
      '7 /expiresAt',
      '8 /expiresAt',
      '9 /relationshipType',
      '10 /from/x',
      '11 /from/id',
      '12 /from/id',
      '13 ',
      '15 ',
    ]);
    expect(body.errors[10].detail).toContain(String(limits.importLineBytesMax));
    expect((await cars.backend('GET', '/actors/user/good2/relationships')).status).toBe(200);
  });

  test('bytes that are not UTF-8 are a refused line', async () => {
    const response = await server.app.inject({
      method: 'POST',
      url: `/${cars.tenant}/relationships/import`,
      headers: {
        authorization: `Bearer ${await server.client(cars.tenant, 'relationships:write')}`,
        'content-type': ndjson,
      },
      payload: Buffer.concat([Buffer.from(`${drives('utf', '1')}\n`), Buffer.from([0xff, 0xfe, 0x0a])]),
    });
    expect(response.json()).toMatchObject({
      created: 1,
      refused: 1,
      errors: [{ line: 2, detail: 'The line is not UTF-8.' }],
    });
  });

  test('lines that are compressed are refused, and not read as lines', async () => {
    const post = async (encoding: string) =>
      server.app.inject({
        method: 'POST',
        url: `/${cars.tenant}/relationships/import`,
        headers: {
          authorization: `Bearer ${await server.client(cars.tenant, 'relationships:write')}`,
          ...{ 'content-type': ndjson, 'content-encoding': encoding },
        },
        payload: drives('encoded', '1'),
      });
    const refused = await post('gzip');
    expect([refused.statusCode, refused.json().detail]).toEqual([415, 'Send the lines without Content-Encoding.']);
    expect((await post('identity')).json()).toMatchObject({ created: 1 });
  });

  test(`a line of importLineBytesMax is read; importErrorsMax errors are told, all are counted`, async () => {
    const bare = drives('full', '1');
    const padded = bare.replace('{', `{${' '.repeat(limits.importLineBytesMax - bare.length)}`);
    expect(Buffer.byteLength(padded)).toBe(limits.importLineBytesMax);
    expect((await send([padded])).body).toMatchObject({ created: 1, refused: 0 });
    expect((await send([`${padded} `])).body).toMatchObject({ created: 0, refused: 1 });
    const { body } = await send(Array(limits.importErrorsMax + 1).fill('{}'));
    expect([body.refused, body.errors.length]).toEqual([limits.importErrorsMax + 1, limits.importErrorsMax]);
  });

  test('maxPerTarget holds within a batch, against what is there, and beside single writes', async () => {
    const owns = (from: string, to: string) =>
      JSON.stringify({
        from: { type: 'user', id: from },
        relationshipType: 'is_owner_of',
        to: { type: 'car', id: to },
      });
    await cars.relate('user/there', 'is_owner_of', 'car/m1');
    const { body } = await send([
      owns('a', 'm1'),
      owns('there', 'm1'),
      owns('a', 'm2'),
      owns('b', 'm2'),
      owns('a', 'm2'),
    ]);
    expect(body).toMatchObject({ created: 1, unchanged: 2, refused: 2 });
    expect(body.errors.map(({ line }: { line: number }) => line)).toEqual([1, 4]);
    const [imported, ...single] = await Promise.all([
      send(Array.from({ length: 200 }, (_, i) => owns('importer', `race${i}`))),
      ...Array.from({ length: 40 }, (_, i) => cars.relate('user/other', 'is_owner_of', `car/race${i * 5}`)),
    ]);
    const made = single.filter(({ status }) => status === 201).length;
    expect(imported?.body.created + made).toBe(200);
    expect(imported?.body.refused).toBe(made);
  });

  test('interrupted, it goes on where it was, from the whole or from the rest', async () => {
    const address = server.app.server.listening ? server.app.server.address() : undefined;
    if (!address) await server.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = server.app.server.address() as { port: number };
    const token = await server.client(cars.tenant, 'relationships:write', 'relationships:read');
    const lines = many(limits.importBatchLinesMax * 3, 'i');
    const cut = request({
      port,
      method: 'POST',
      path: `/${cars.tenant}/relationships/import?importId=cut`,
      headers: { authorization: `Bearer ${token}`, 'content-type': ndjson },
    });
    cut.on('error', () => {});
    cut.write(`${lines.slice(0, limits.importBatchLinesMax + 100).join('\n')}\n`);
    const progress = async () => (await cars.backend('GET', '/relationships/imports/cut')).body;
    await until('the first batch', async () => (await progress())?.lines === limits.importBatchLinesMax);
    cut.destroy();
    const half = await progress();
    expect(half.finishedAt).toBeUndefined();
    expect(server.observations.filter(({ kind }) => kind === 'request_failed')).toEqual([]);
    const gap = await send(
      lines.slice(limits.importBatchLinesMax + 1),
      `?importId=cut&firstLine=${limits.importBatchLinesMax + 2}`,
    );
    expect([gap.status, gap.body.code, gap.body.detail]).toEqual([
      409,
      'import_gap',
      expect.stringContaining(`line ${limits.importBatchLinesMax + 1}`),
    ]);
    const rest = await send(
      lines.slice(limits.importBatchLinesMax, -10),
      `?importId=cut&firstLine=${limits.importBatchLinesMax + 1}`,
    );
    expect(rest.body).toMatchObject({ lines: lines.length - 10, created: lines.length - 10, unchanged: 0 });
    const whole = await send(lines, '?importId=cut');
    expect(whole.body).toMatchObject({ lines: lines.length, created: lines.length, unchanged: 0 });
    expect((await audited(cars.tenant)).filter((row) => row.object_name === 'cut')).toHaveLength(1);
  });

  test('when the database goes away, it says so, and goes on where it was', async () => {
    const { port } = server.app.server.address() as { port: number };
    const token = await server.client(cars.tenant, 'relationships:write');
    const lines = many(limits.importBatchLinesMax * 3, 'a');
    const sending = request({
      port,
      method: 'POST',
      path: `/${cars.tenant}/relationships/import?importId=away`,
      headers: { authorization: `Bearer ${token}`, 'content-type': ndjson },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sending.on('response', resolve).on('error', reject);
    });
    sending.write(`${lines.slice(0, limits.importBatchLinesMax).join('\n')}\n`);
    const progress = async () => (await cars.backend('GET', '/relationships/imports/away')).body;
    await until('the first batch', async () => (await progress())?.lines === limits.importBatchLinesMax);
    const outage = outageOf(server.db.adminUrl);
    await outage.begin();
    sending.write(`${lines.slice(limits.importBatchLinesMax).join('\n')}\n`);
    const answer = await answered;
    const problem = await json(answer);
    sending.destroy();
    await outage.end();
    expect([answer.statusCode, answer.headers['retry-after'], problem]).toMatchObject([
      503,
      '1',
      { code: 'not_ready' },
    ]);
    const whole = await until('a database', async () => {
      const { status, body } = await send(lines, '?importId=away');
      return status === 200 && body;
    });
    expect(whole).toMatchObject({ lines: lines.length, created: lines.length, unchanged: 0 });
  });

  test.each([
    ['other lines', many(3, 'other')],
    ['one line changed', [...many(2, 'kept'), drives('kept2', 'elsewhere')]],
    ['lines in another order', many(3, 'kept').reverse()],
    ['fewer lines', many(2, 'kept')],
    ['no lines', []],
    ['a line before them', ['', ...many(3, 'kept')]],
    ['other lines and more', many(5, 'other')],
  ])('a reused importId with %s is refused, and nothing is imported', async (name, lines) => {
    const id = `reused-${name.replaceAll(' ', '-')}`;
    expect((await send(many(3, 'kept'), `?importId=${id}`)).status).toBe(200);
    const before = (await cars.backend('GET', `/relationships/imports/${id}`)).body;
    const other = await send(lines, `?importId=${id}`);
    expect([other.status, other.body.code]).toEqual([409, 'import_lines_differ']);
    expect((await cars.backend('GET', `/relationships/imports/${id}`)).body).toEqual(before);
    expect((await cars.backend('GET', '/actors/user/other4/relationships')).status).toBe(404);
    const same = await send(many(3, 'kept'), `?importId=${id}`);
    expect([same.status, same.body]).toEqual([200, before]);
  });

  test('it goes on from its next line only: what overlaps could not be compared', async () => {
    await send(many(3, 'gap'), '?importId=overlap');
    for (const [firstLine, status] of [
      [2, 409],
      [3, 409],
      [5, 409],
      [4, 200],
    ]) {
      const { status: given } = await send([drives('gap-more', '1')], `?importId=overlap&firstLine=${firstLine}`);
      expect([firstLine, given]).toEqual([firstLine, status]);
    }
  });

  test('the same import from two sides at once writes each line once', async () => {
    const lines = many(limits.importBatchLinesMax * 2, 'twice');
    const answers = await Promise.all([send(lines, '?importId=twice'), send(lines, '?importId=twice')]);
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
    const { body } = await send(lines, '?importId=twice');
    expect(body).toMatchObject({ lines: lines.length, created: lines.length, unchanged: 0 });
  });

  test('two imports of the same relationships in opposite orders both end', async () => {
    const lines = many(limits.importBatchLinesMax, 'cross');
    const [up, down] = await Promise.all([send(lines), send([...lines].reverse())]);
    expect([up?.status, down?.status]).toEqual([200, 200]);
    expect(up?.body.created + down?.body.created).toBe(lines.length);
  });

  test('announced as more than importBytesMax, it is refused before it is sent', async () => {
    const token = await server.client(cars.tenant, 'relationships:write');
    const { port } = server.app.server.address() as { port: number };
    const status = await new Promise((resolve, reject) => {
      const sending = request({
        port,
        method: 'POST',
        path: `/${cars.tenant}/relationships/import`,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': ndjson,
          'content-length': limits.importBytesMax + 1,
        },
      });
      sending.on('response', (response) => {
        resolve(response.statusCode);
        sending.destroy();
      });
      sending.on('error', reject);
      sending.flushHeaders();
    });
    expect(status).toBe(413);
  });

  test.each([
    ['JSON', { body: {} }, 415],
    ['JSON that is none', { raw: '{', type: 'application/json' }, 415],
    ['plain text', { raw: 'a', type: 'text/plain' }, 415],
    ['no body', {}, 415],
    ['an id with a slash', { raw: '', type: ndjson }, 400],
  ])('%s is refused', async (_, call, status) => {
    const query = status === 400 ? '?importId=a%2Fb' : '';
    const answer = await cars.backend('POST', `/relationships/import${query}`, call);
    expect(answer.status).toBe(status);
    if (status === 415)
      expect(answer.body).toMatchObject({ code: 'unsupported_media_type', detail: `Send ${ndjson}.` });
  });

  test('the OpenAPI document has its body', async () => {
    const document = (await server.app.inject('/openapi.json')).json();
    const { requestBody } = document.paths['/{tenant}/relationships/import'].post;
    expect(Object.keys(requestBody.content)).toEqual([ndjson]);
  });
});

test("an import is seen by its tenant only, and another tenant's is not there", async () => {
  const other = await sharingTenant(server);
  expect((await other.backend('GET', '/relationships/imports/broken')).body.code).toBe('import_not_found');
});
