/** Reading the ledger by the API: who sees what, filters, pages, exports, and that reading is recorded. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import type { Database } from '../../server/core/db/database.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { exported } from '../../server/ledger/export.ts';
import { eraseIn, sealWaiting } from '../../server/ledger/index.ts';
import type { RegisterEvent } from '../../server/ledger/schema.ts';
import { ServedTenant, type TenantSnapshot } from '../../server/snapshot/index.ts';
import { asAdmin, holdTable } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { entriesOf, entry, sealed, T0 } from './chain.ts';

const clock = { ms: T0, now: () => clock.ms, monotonic: () => performance.now() };
const server = await createTestServer({}, undefined, clock);
const { database, ledger: sealing } = server.services;
const { ledger } = sealing;

async function get(tenant: string, path: string, token: string, headers: Record<string, string> = {}) {
  const response = await server.app.inject({
    url: `/${tenant}/consents/${path}`,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  return { status: response.statusCode, text: response.body, headers: response.headers, json: () => response.json() };
}

/** Without what this itself leaves in the ledger. */
async function logsOf(tenant: string, query = ''): Promise<RegisterEvent[]> {
  const looking = { 'x-request-id': LOOKING };
  const reply = await get(tenant, `events${query}`, await server.client(tenant, 'consents:read'), looking);
  expect(reply.status, reply.text).toBe(200);
  return reply.json().logs.filter(({ requestId }: RegisterEvent) => requestId !== LOOKING);
}
const LOOKING = 'looking';

test('an answer waits for its entry no longer than for a statement of a request', async () => {
  const setting = (database: Database) =>
    database.system((tx) =>
      tx.one(
        Type.Object({ ms: Type.Integer() }),
        sql`select setting::int as ms from pg_settings where name = 'statement_timeout'`,
      ),
    );
  expect(await setting(sealing.ledgerDatabase)).toEqual({ ms: limits.statementTimeoutMs });
  expect(await setting(database)).toEqual({ ms: limits.systemStatementTimeoutMs });
});

describe('GET events', () => {
  test('tells every field, sealed or not, newest first', async () => {
    const tenant = await server.tenant();
    const document = { version: '1.1', language: 'fr' };
    const actor = { type: 'client', id: 'shop' };
    await ledger.append(tenant, [
      entry({ requestId: 'r1' }),
      entry({
        type: 'registered',
        time: T0 + 1,
        actor,
        name: 'terms',
        version: '1',
        document,
        clientId: 'shop',
        requestId: 'r2',
      }),
    ]);
    await sealWaiting(sealing);
    await ledger.append(tenant, [{ type: 'denied', time: T0 + 2, actor, outcome: 'forbidden', requestId: 'r3' }]);
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const time = (ms: number) => new Date(T0 + ms).toISOString();
    expect(await logsOf(tenant)).toEqual([
      { id, time: time(2), type: 'denied', actor, outcome: 'forbidden', requestId: 'r3' },
      {
        ...{ id, sequence: 2, time: time(1), type: 'registered', actor, userId: 'alice', name: 'terms', version: '1' },
        ...{ document, outcome: 'given', requestId: 'r2', clientId: 'shop' },
      },
      {
        ...{ id, sequence: 1, time: time(0), type: 'read', actor: { type: 'user', id: 'alice' }, userId: 'alice' },
        ...{ outcome: 'given', requestId: 'r1' },
      },
    ]);
  });

  test('leaves out who it was once the user is erased', async () => {
    const tenant = await server.tenant();
    await sealed(server, tenant, [2]);
    await database.tenant(tenant, (tx) => eraseIn(tx, tenant, { type: 'user', id: 'user1' }));
    const [, first] = await logsOf(tenant);
    expect(first).toMatchObject({ sequence: 1, name: 'n1', outcome: 'given' });
    expect(first).not.toHaveProperty('userId');
    expect(first).not.toHaveProperty('actor');
  });

  test('pages through sealed and unsealed entries of one instant, each once', async () => {
    const tenant = await server.tenant();
    await sealed(server, tenant, [5]);
    await ledger.append(
      tenant,
      Array.from({ length: 6 }, () => entry({ time: T0 + 3 })),
    );
    const seen: string[] = [];
    const token = await server.client(tenant, 'consents:read');
    let cursor: string | undefined;
    clock.ms = T0 + 1000;
    do {
      const reply = await get(tenant, `events?limit=2${cursor ? `&cursor=${cursor}` : ''}`, token);
      const page: { logs: RegisterEvent[]; cursor?: string } = reply.json();
      seen.push(...page.logs.map(({ id }) => id));
      cursor = page.cursor;
      if (seen.length === 4) await sealWaiting(sealing); // what moves meanwhile is neither missed nor seen twice
    } while (cursor !== undefined);
    clock.ms = T0;
    expect(seen).toHaveLength(11);
    expect(new Set(seen).size).toBe(11);
  });

  test('filters by time, type, name and user', async () => {
    const tenant = await server.tenant();
    await sealed(server, tenant, [4]);
    await ledger.append(tenant, [entry({ type: 'denied', time: T0 + 5, name: 'n2' })]);
    const names = async (query: string) => (await logsOf(tenant, query)).map(({ sequence }) => sequence ?? 0);
    const at = (ms: number) => encodeURIComponent(new Date(T0 + ms).toISOString());
    expect(await names(`?start=${at(2)}`)).toEqual([0, 4, 3, 2]);
    expect(await names(`?end=${at(2)}`)).toEqual([1]);
    expect(await names(`?start=${at(2)}&end=${at(4)}`)).toEqual([3, 2]);
    expect(await names('?type=denied')).toEqual([0]);
    expect(await names('?name=n2')).toEqual([0, 2]);
    expect(await names('?userId=user3')).toEqual([3]);
    expect(await names('?userId=user3&name=n2')).toEqual([]);
    clock.ms = T0 + 1000 + 3;
    expect(await names('?last=PT1S')).toEqual([0, 4, 3]);
    clock.ms = T0;
  });

  test('finds a user, and a name, by an index, whether there are entries or not', async () => {
    // As the servers' role: the owner is not bound by row-level security, which keeps some indexes from being used.
    const url = `${server.db.url}&options=-c%20enable_seqscan%3Doff%20-c%20accord.tenant%3Dx`;
    for (const column of ['user_id', 'name']) {
      const rows = await asAdmin<Record<string, string>>(
        url,
        `explain select from accord.ledger_entry where tenant = 'x' and ${column} = 'x' order by time desc, id desc limit 10`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan, plan).toMatch(new RegExp(`Index Cond: .*${column}`));
      expect(plan, plan).not.toMatch(/ Sort {2}|^ *Filter/m);
    }
  });

  test.each([
    ['start=yesterday', '/query/start'],
    ['start=2026-02-30T00:00:00Z', '/query/start'],
    ['start=2026-12-31T23:59:60Z', '/query/start'],
    ['start=2026-01-01T00:00:00', '/query/start'],
    ['end=0000-01-01T00:00:00Z', '/query/end'],
    ['last=7d', '/query/last'],
    ['last=-P1D', '/query/last'],
    ['last=P', '/query/last'],
    ['last=P1D&start=2026-01-01T00:00:00Z', '/query/last'],
    ['type=deleted', '/query/type'],
    ['user=alice', '/query'],
    ['limit=0', '/query/limit'],
    ['cursor=x', '/query/cursor'],
    [
      `cursor=${Buffer.from(JSON.stringify(['register-events', '2026-02-30T00:00:00.000Z 00000000-0000-0000-0000-000000000000'])).toString('base64url')}`,
      '/query/cursor',
    ],
  ])('refuses %s', async (query, pointer) => {
    const tenant = await server.tenant();
    const reply = await get(tenant, `events?${query}`, await server.client(tenant, 'consents:read'));
    expect(reply.status).toBe(400);
    expect(reply.json().errors[0].pointer).toContain(pointer);
  });

  test('is an entry itself', async () => {
    const tenant = await server.tenant();
    const token = await server.client(tenant, 'consents:read');
    await get(tenant, 'events?userId=alice&name=terms&limit=1', token, { 'x-request-id': 'e1' });
    expect(await logsOf(tenant)).toMatchObject([
      { type: 'read', actor: { type: 'client', id: 'backend' }, userId: 'alice', name: 'terms', outcome: 'events' },
    ]);
  });

  test.each(['events', 'events/verify', 'export', 'events/me?limit=x'])(
    'what is refused of %s is in the ledger',
    async (path) => {
      const tenant = await server.tenant();
      const refused = await get(tenant, path, await server.user(tenant, 'alice'), { 'x-request-id': 'r1' });
      const outcome = refused.json().code;
      expect(await logsOf(tenant, '?type=denied')).toMatchObject([
        { actor: { type: 'user', id: 'alice' }, userId: 'alice', outcome, requestId: 'r1' },
      ]);
    },
  );

  test('is for back ends with the scope', async () => {
    const tenant = await server.tenant();
    for (const path of ['events', 'events/verify', 'export']) {
      expect((await get(tenant, path, await server.user(tenant, 'alice'))).status, path).toBe(403);
      expect((await get(tenant, path, await server.client(tenant, 'consents:write'))).status, path).toBe(403);
      expect((await get(tenant, path, await server.client(tenant, 'pg:tenant:admin'))).status, path).toBe(200);
      const other = await server.tenant();
      expect((await get(other, path, await server.client(tenant, 'pg:tenant:admin'))).status, path).toBe(401);
    }
  });
});

describe('GET events/me', () => {
  test("tells a user's own entries only, and is an entry itself", async () => {
    const tenant = await server.tenant();
    await sealed(server, tenant, [3]);
    const token = await server.user(tenant, 'user2');
    const first = await get(tenant, 'events/me', token, { 'x-request-id': 'mine' });
    expect(first.json().logs.map(({ sequence }: RegisterEvent) => sequence)).toEqual([2]);
    const read = (await logsOf(tenant, '?userId=user2&type=read')).find(({ requestId }) => requestId === 'mine');
    expect(read).toMatchObject({
      ...{ type: 'read', actor: { type: 'user', id: 'user2' }, userId: 'user2', outcome: 'events', requestId: 'mine' },
      ...{ clientId: 'accord-cli' },
    });
    expect((await get(tenant, 'events/me', await server.client(tenant, 'pg:tenant:admin'))).status).toBe(403);
    expect((await get(tenant, 'events/me?userId=user1', token)).status).toBe(400);
  });

  test('does not take an actor of another type for the user of the same id', async () => {
    const tenant = await server.tenant();
    await ledger.append(tenant, [
      entry(),
      entry({
        time: T0 - 1,
        type: 'denied',
        actor: { type: 'user', id: 'alice' },
        userId: 'bob',
        requestId: 'its',
      }),
    ]);
    // As for a tenant whose users are drivers, and that trusts an issuer of tokens of the type user.
    const tenantOf = (code: string) => {
      const snapshot = server.services.snapshots.get(code) as TenantSnapshot;
      const spec = { ...snapshot.spec, tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: 'driver' } };
      return new ServedTenant({ ...snapshot, spec }, () => true);
    };
    const snapshot = { ...server.services.snapshot, tenantOf };
    const app = await createApp(server.config, { ...server.services, snapshot }, { eventLoopDelayMsMax: 0 });
    const headers = { authorization: `Bearer ${await server.user(tenant, 'alice')}` };
    const reply = await app.inject({ url: `/${tenant}/consents/events/me`, headers });
    await app.close();
    expect(reply.json().logs.map(({ requestId }: RegisterEvent) => requestId)).toEqual(['its']);
  });
});

describe('GET events/verify', () => {
  test('is an entry itself', async () => {
    const tenant = await server.tenant();
    const token = await server.client(tenant, 'consents:read');
    await get(tenant, 'events/verify', token, { 'x-request-id': 'v1' });
    expect(await logsOf(tenant)).toMatchObject([
      { type: 'read', actor: { type: 'client', id: 'backend' }, outcome: 'verification', requestId: 'v1' },
    ]);
  });

  test('answers what it found, and compares with an earlier checkpoint', async () => {
    const tenant = await server.tenant();
    const token = await server.client(tenant, 'consents:read');
    expect((await get(tenant, 'events/verify', token)).json()).toEqual({ valid: true, entries: 0 });
    await sealed(server, tenant, [3]);
    const first = (await get(tenant, 'events/verify', token)).json();
    // With the verification before it.
    expect(first).toEqual({ valid: true, entries: 4, checkpoint: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
    await sealed(server, tenant, [2]);
    const again = await get(tenant, `events/verify?checkpoint=${first.checkpoint}`, token);
    expect(again.json()).toMatchObject({ valid: true, entries: 7 });
    const [row] = await entriesOf(server, tenant);
    await asAdmin(server.db.adminUrl, "update accord.ledger_entry set outcome = 'x' where id = $1", [row?.id]);
    const bad = await get(tenant, 'events/verify', token);
    expect(bad.status).toBe(200);
    expect(bad.json()).toMatchObject({
      valid: false,
      entries: 0,
      firstBad: { sequence: 1, id: row?.id, problem: 'changed' },
    });
    const refused = await get(tenant, 'events/verify?checkpoint=a.b.c', token);
    expect([refused.status, refused.json().code]).toEqual([400, 'checkpoint_invalid']);
    const long = 'x'.repeat(limits.ledgerCheckpointCharsMax);
    expect((await get(tenant, `events/verify?checkpoint=${long}`, token)).json().code).toBe('checkpoint_invalid');
    expect((await get(tenant, `events/verify?checkpoint=${long}x`, token)).json().code).toBe('invalid_request');
  });

  test('as lines says how far it is, and as the last line what it found', async () => {
    const tenant = await server.tenant();
    const token = await server.client(tenant, 'consents:read');
    const lines = async (path = 'events/verify') => {
      const reply = await get(tenant, path, token, { accept: 'application/x-ndjson' });
      expect(reply.headers['content-type']).toBe('application/x-ndjson');
      return reply.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    expect(await lines()).toEqual([{ valid: true, entries: 0 }]);
    await sealed(server, tenant, [3]);
    const checkpoint = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const found = { valid: true, entries: 4, checkpoint };
    expect(await lines()).toEqual([{ progress: { entries: 4, of: 4 } }, found]);
    const read = (await logsOf(tenant)).filter(({ outcome }) => outcome === 'verification');
    expect(read.length).toBe(2);
    const refused = await get(tenant, 'events/verify?checkpoint=a.b.c', token, { accept: 'application/x-ndjson' });
    expect([refused.status, refused.json().code]).toEqual([400, 'checkpoint_invalid']);
  });

  test('as lines that break off has no result and is no entry, and the next one begins anew', async () => {
    const tenant = await server.tenant();
    const token = await server.client(tenant, 'consents:read');
    await sealed(server, tenant, [3]);
    const app = await createApp(server.config, server.services, { eventLoopDelayMsMax: 0 });
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    // The verification waits for this before it is an entry, behind its lines of progress.
    await using held = await holdTable(server.db.adminUrl, 'accord.ledger_inbox');
    const headers = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson', 'x-request-id': 'cut' };
    const answer = await fetch(`${address}/${tenant}/consents/events/verify`, { headers });
    let taken = '';
    const taking = (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) taken += decoder.decode(bytes);
    })();
    const brokenOff = expect(taking).rejects.toThrow('terminated');
    await expect.poll(() => taken).toBe('{"progress":{"entries":3,"of":3}}\n');
    // Ended once: what tries again afterwards waits too.
    await expect.poll(held.waiting).toBe(1);
    expect(await held.endWaiting()).toBe(1);
    await brokenOff;
    expect(taken).not.toContain('valid');
    await held.letGo();
    await expect.poll(async () => (await get(tenant, 'events/verify', token)).status).toBe(200);
    expect((await logsOf(tenant)).filter(({ requestId }) => requestId === 'cut')).toEqual([]);
    await app.close();
  });

  test('runs for ledgerVerificationsMax tenants at once, and once for a tenant', async () => {
    const tenants = await Promise.all(Array.from({ length: limits.ledgerVerificationsMax + 1 }, () => server.tenant()));
    const verifyAll = (of: string[]) =>
      Promise.all(of.map(async (tenant) => get(tenant, 'events/verify', await server.client(tenant, 'consents:read'))));
    const statuses = async (of: string[]) => (await verifyAll(of)).map(({ status }) => status).sort();
    // Verified tokens are cached now: what follows begins in one turn.
    await verifyAll(tenants);
    const tokens = await Promise.all(tenants.map((tenant) => server.client(tenant, 'consents:read')));
    await Promise.all(tenants.map((tenant, i) => get(tenant, 'events', tokens[i] as string)));
    const at = (i: number) => get(tenants[i] as string, 'events/verify', tokens[i] as string);
    const ok = Array.from({ length: limits.ledgerVerificationsMax }, () => 200);
    const replies = await Promise.all(tenants.map((_, i) => at(i)));
    expect(replies.map(({ status }) => status).sort()).toEqual([...ok, 429]);
    expect(replies.find(({ status }) => status === 429)?.headers['retry-after']).toBe('10');
    expect((await Promise.all([at(0), at(0)])).map(({ status }) => status).sort()).toEqual([200, 429]);
    expect(await statuses(tenants.slice(1))).toEqual(ok);
  });
});

describe('GET export', () => {
  test('is every entry as a line, oldest first, and an entry itself', async () => {
    const tenant = await server.tenant();
    await sealed(server, tenant, [3]);
    const token = await server.client(tenant, 'consents:read');
    clock.ms = T0 + 1000;
    const reply = await get(tenant, 'export?userId=user2', token, { 'x-request-id': 'e1' });
    expect(reply.headers['content-type']).toBe('application/x-ndjson');
    const about = (await logsOf(tenant, '?userId=user2')).reverse();
    expect(about.map(({ sequence, type }) => [sequence, type])).toEqual([
      [2, 'read'],
      [undefined, 'exported'],
    ]);
    expect(
      reply.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(about);
    const [of] = await logsOf(tenant, '?type=exported');
    expect(of).toMatchObject({
      ...{ type: 'exported', actor: { type: 'client', id: 'backend' }, userId: 'user2', outcome: 'ndjson' },
      ...{ clientId: 'backend', requestId: 'e1' },
    });
    const all = await get(tenant, 'export?format=ndjson', token);
    clock.ms = T0;
    const lines = all.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ requestId }) => requestId !== LOOKING)).toEqual((await logsOf(tenant)).reverse());
  });

  test('has what GET events has of every kind of entry', async () => {
    const tenant = await server.tenant();
    const odd = 'a"b\\c/\b\f\n\r\t\u0001\u007f\u2028é漢😀</script>';
    const actor = { type: 'client', id: 'shop' };
    const whole = { name: odd, version: odd, document: { version: odd, language: odd }, clientId: odd };
    await ledger.append(tenant, [
      entry({ time: T0, actor: { type: 'user', id: 'gone' }, userId: 'gone', name: 'terms', requestId: 'r1' }),
      entry({ time: T0 + 77, actor, ...whole, outcome: odd, requestId: odd }),
    ]);
    await sealWaiting(sealing);
    await database.tenant(tenant, (tx) => eraseIn(tx, tenant, { type: 'user', id: 'gone' }));
    await ledger.append(tenant, [{ type: 'denied', time: T0 + 877, actor, outcome: '404', requestId: 'r3' }]);
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const time = (ms: number) => new Date(T0 + ms).toISOString();
    const shown = [
      { id, sequence: 1, time: time(0), type: 'read', name: 'terms', outcome: 'given', requestId: 'r1' },
      {
        ...{ id, sequence: 2, time: time(77), type: 'read', actor, userId: 'alice', name: odd, version: odd },
        ...{ document: whole.document, outcome: odd, requestId: odd, clientId: odd },
      },
      { id, time: time(877), type: 'denied', actor, outcome: '404', requestId: 'r3' },
    ];
    clock.ms = T0 + 1000;
    const reply = await get(tenant, 'export', await server.client(tenant, 'consents:read'));
    const listed = (await logsOf(tenant)).reverse();
    clock.ms = T0;
    const lines = reply.text.trimEnd().split('\n');
    const exportedEvents = lines.map((line) => JSON.parse(line));
    expect(exportedEvents.slice(0, 3)).toStrictEqual(shown);
    expect(exportedEvents).toStrictEqual(listed);
    const order = (event: object) => JSON.stringify(Object.keys(event));
    expect(exportedEvents.slice(0, 3).map(order)).toEqual(shown.map(order));
    expect(lines[0]).toBe(JSON.stringify(exportedEvents[0]));
  });

  test('as CSV quotes what has to be, and disarms formulas', async () => {
    const tenant = await server.tenant();
    const id = 'a"b,c\r\nd';
    await ledger.append(tenant, [
      entry({ time: T0 - 2, actor: { type: 'user', id }, userId: id, requestId: 'r1' }),
      entry({
        time: T0 - 1,
        userId: '=cmd()',
        name: '-1',
        document: { version: '1', language: 'en' },
        contentDigest: 'sha256:ab',
        requestId: 'r2',
      }),
      entry({
        time: T0,
        userId: ' =1+1',
        name: '\u00a0@SUM',
        version: '\uff1d1',
        requestId: 'r3',
        outcome: '\u200b-1',
      }),
      entry({ time: T0 + 1, userId: 'a=b', name: '\uff0b1', version: '1-2', requestId: 'r4', outcome: '\u2212 1' }),
    ]);
    await sealWaiting(sealing);
    const reply = await get(tenant, 'export?format=csv&type=read', await server.client(tenant, 'consents:read'));
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
    const uuid = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
    expect(reply.text.replace(uuid, 'ID')).toBe(
      [
        'id,sequence,time,type,actorType,actorId,userId,name,version,documentVersion,documentLanguage,contentDigest,outcome,requestId,clientId,reason',
        `ID,1,${new Date(T0 - 2).toISOString()},read,user,"a""b,c\r\nd","a""b,c\r\nd",,,,,,given,r1,,`,
        `ID,2,${new Date(T0 - 1).toISOString()},read,user,alice,'=cmd(),'-1,,1,en,sha256:ab,given,r2,,`,
        `ID,3,${new Date(T0).toISOString()},read,user,alice,' =1+1,'\u00a0@SUM,'\uff1d1,,,,'\u200b-1,r3,,`,
        `ID,4,${new Date(T0 + 1).toISOString()},read,user,alice,a=b,'\uff0b1,1-2,,,,'\u2212 1,r4,,`,
        '',
      ].join('\r\n'),
    );
  });

  test('refuses another format, and exports nothing', async () => {
    const tenant = await server.tenant();
    expect((await get(tenant, 'export?format=xml', await server.client(tenant, 'consents:read'))).status).toBe(400);
    expect(await logsOf(tenant)).toMatchObject([{ type: 'denied', outcome: 'invalid_request' }]);
  });

  test('runs ledgerExportsMax times at once for a tenant: one is counted until its connection goes', async () => {
    const tenant = await server.tenant();
    const count = 40 * limits.ledgerExportPageItemsMax; // more than the sockets hold
    await ledger.append(
      tenant,
      Array.from({ length: count }, (_, i) => entry({ time: T0 + (i >> 2) })),
    );
    const headers = { authorization: `Bearer ${await server.client(tenant, 'consents:read')}` };
    const app = await createApp(server.config, server.services, { eventLoopDelayMsMax: 0 });
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const other = await server.tenant();
    const theirs = { authorization: `Bearer ${await server.client(other, 'consents:read')}` };
    const ask = async (of = tenant, as = headers) => {
      const request = httpRequest(`${address}/${of}/consents/export`, { headers: as, agent: false }).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.on('error', () => {}); // it is left in the middle
      return { status: response.statusCode, leave: () => request.destroy() };
    };
    const stalled = await Promise.all(Array.from({ length: limits.ledgerExportsMax }, () => ask()));
    expect(stalled.map(({ status }) => status)).toEqual(stalled.map(() => 200));
    const refused = await ask();
    expect(refused.status).toBe(429);
    const another = await ask(other, theirs);
    expect(another.status).toBe(200);
    for (const { leave } of [refused, another, ...stalled]) leave();
    const statusNow = async () => {
      const { status, leave } = await ask();
      leave();
      return status;
    };
    await expect.poll(statusNow).toBe(200);
    await app.close();
  });

  test('goes on over a page of ledgerExportPageItemsMax, and reads no further than is taken', async () => {
    const tenant = await server.tenant();
    const count = 2 * limits.ledgerExportPageItemsMax + 1;
    await ledger.append(
      tenant,
      Array.from({ length: count }, (_, i) => entry({ time: T0 + (i >> 2), requestId: randomUUID() })),
    );
    let reads = 0;
    const counting = new Proxy(database, {
      get: (target, name) => {
        if (name === 'read') reads++;
        const member = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const taken = exported(counting, tenant, {}, 'ndjson');
    await taken.next();
    expect(reads).toBe(1);
    await taken.return(undefined);
    expect(reads).toBe(1);
    const ids = new Set<string>();
    for await (const text of exported(counting, tenant, {}, 'ndjson')) {
      for (const line of text.trimEnd().split('\n')) ids.add(JSON.parse(line).id);
    }
    expect(ids.size).toBe(count);
    expect(reads).toBe(4);
  });
});
