/** GET /tenants/{tenant}/audit and its export: what is found, page by page, and who sees how much. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { auditKinds } from '../../server/core/audit-kinds.ts';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient, type Role, says } from '../policies/config-client.ts';

const server = await createTestServer();

type Entry = { id: string; time: string; actor: string; action: string; kind: string; name: string; detail?: unknown };

async function insert(tenant: string, count: number, of: { name?: string; at?: string; kind?: string } = {}) {
  await asAdmin(
    server.db.adminUrl,
    `insert into accord.audit_entry (tenant, at, actor, action, object_kind, object_name, detail)
     select $1, $2::timestamptz + n * interval '1 microsecond', '"cli"', 'put', $3, coalesce($4, n::text), '{"=n": 1}'
     from generate_series(1, $5) n`,
    [tenant, of.at ?? '2026-01-01T00:00:00Z', of.kind ?? 'policy', of.name ?? null, count],
  );
}

async function reader(tenant: string, role: Role = 'security-admin') {
  const call = await configClient(server, tenant, role);
  return (query = '') => call('GET', `/audit${query}`);
}

async function exportOf(tenant: string, query = '', role: Role = 'security-admin') {
  const headers = { authorization: `Bearer ${await server.member(tenant, role)}` };
  return server.app.inject({ url: `/tenants/${tenant}/audit/export${query}`, headers });
}

describe('GET C/audit', () => {
  test('shows who changed what, newest first, and finds by actor, action, kind, name and time', async () => {
    const tenant = await server.tenant();
    const editor = await configClient(server, tenant, 'config-editor');
    const put = await editor('PUT', '/policies/p1', {
      body: { rego: says('allow') },
      headers: { 'x-request-id': 'r-1' },
    });
    await editor('PUT', '/policies/p2', { body: { rego: says('deny') } });
    await editor('DELETE', '/policies/p1');
    const read = await reader(tenant);
    const { status, body } = await read('?kind=policy');
    expect(status).toBe(200);
    const actor = 'member:config-editor@localhost';
    expect(body.entries).toMatchObject([
      { actor, action: 'delete', kind: 'policy', name: 'p1' },
      { actor, action: 'put', kind: 'policy', name: 'p2' },
      { actor, action: 'put', kind: 'policy', name: 'p1', requestId: 'r-1', revision: put.headers['accord-revision'] },
    ]);
    const names = async (query: string) => (await read(query)).body.entries.map(({ name }: Entry) => name);
    expect(await names('?kind=policy&action=delete')).toEqual(['p1']);
    expect(await names(`?kind=policy&name=p2&actor=${encodeURIComponent(actor)}`)).toEqual(['p2']);
    expect(await names('?actor=member')).toEqual([]);
    const [newest] = body.entries as Entry[];
    expect(await names(`?kind=policy&end=${newest?.time}`)).toEqual(['p2', 'p1']);
    expect(await names(`?kind=policy&start=${newest?.time}`)).toEqual(['p1']);
    expect(await names('?kind=policy&last=PT1H')).toHaveLength(3);
    const misspelt = await read('?kind=relationshp');
    expect([misspelt.status, misspelt.body.errors]).toEqual([
      400,
      [
        {
          pointer: '/query/kind',
          detail: expect.stringMatching(/^Must be one of account, .*; did you mean relationship\?$/),
        },
      ],
    ]);
    for (const wrong of [
      '?kind=client',
      '?last=PT1H&start=2026-01-01T00:00:00Z',
      '?start=2026-01-01',
      '?kinds=policy',
      '?last=soon',
      '?start=2026-01-02T00:00:00Z&end=2026-01-01T23:59:59Z',
    ])
      expect([wrong, (await read(wrong)).status]).toEqual([wrong, 400]);
  });

  test('has the kinds that its page of docs/ lists', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/audit.md'), 'utf8');
    const [, listed = ''] = /^The kinds are ([^.]*)\./m.exec(page) ?? [];
    expect([...listed.matchAll(/`(\w+)`/g)].map(([, kind]) => kind)).toEqual([...auditKinds]);
  });

  test('loses no entry of one millisecond between pages', async () => {
    const tenant = await server.tenant();
    await insert(tenant, 7);
    const read = await reader(tenant);
    const found: string[] = [];
    let cursor = '';
    do {
      const { body } = await read(`?kind=policy&limit=2${cursor && `&cursor=${cursor}`}`);
      found.push(...body.entries.map(({ name }: Entry) => name));
      cursor = body.cursor ?? '';
    } while (cursor !== '');
    expect(found).toEqual(['7', '6', '5', '4', '3', '2', '1']);
    const forged = Buffer.from(JSON.stringify(['audit', `2026-02-30T00:00:00.000000Z ${randomUUID()}`])).toString(
      'base64url',
    );
    expect((await read(`?cursor=${forged}`)).status).toBe(400);
  });

  test('looks at auditEntriesLookedAtMax entries, and goes on behind them', async () => {
    const tenant = await server.tenant();
    const found = async (query: string) => (await (await reader(tenant, 'security-admin'))(query)).body;
    await insert(tenant, 1, { name: 'sought', kind: 'key' });
    await insert(tenant, limits.auditEntriesLookedAtMax - 1, { at: '2026-01-02T00:00:00Z', kind: 'client' });
    const until = '&end=2026-01-03T00:00:00Z';
    const all = await found(`?name=sought${until}`);
    expect(all.entries).toHaveLength(1);
    await insert(tenant, 1, { at: '2026-01-02T12:00:00Z', kind: 'client' });
    const first = await found(`?name=sought${until}`);
    expect(first.entries).toEqual([]);
    expect((await found(`?name=sought${until}&cursor=${first.cursor}`)).entries).toHaveLength(1);
  });

  test('masks persons and details for support, which may not search by them', async () => {
    const tenant = await server.tenant();
    await insert(tenant, 1, { name: 'user/alice is_owner_of car/1', kind: 'relationship' });
    await insert(tenant, 1, { name: 'car:read' });
    const read = await reader(tenant, 'support');
    const { body } = await read('?end=2026-01-02T00:00:00Z');
    expect(body.entries.map(({ name, detail }: Entry) => [name, detail])).toEqual(
      [
        ['car:read', undefined],
        ['***', undefined],
      ].sort((a, b) => (a[0] === '***' ? 1 : 0) - (b[0] === '***' ? 1 : 0)),
    );
    for (const query of ['?actor=cli', '?name=x']) expect((await read(query)).status).toBe(403);
    for (const role of ['config-editor', 'config-viewer'] as const)
      expect((await (await reader(tenant, role))()).status).toBe(403);
    expect((await exportOf(tenant, '', 'support')).statusCode).toBe(403);
  });

  test("shows nothing of another tenant's log", async () => {
    const [tenant, other] = [await server.tenant(), await server.tenant()];
    await insert(other, 1, { name: 'theirs' });
    expect((await (await reader(tenant))('?name=theirs')).body.entries).toEqual([]);
  });
});

describe('GET C/audit/export', () => {
  test('writes every entry, oldest first, over a page of auditExportPageItemsMax', async () => {
    const tenant = await server.tenant();
    const count = 2 * limits.auditExportPageItemsMax + 1;
    await insert(tenant, count);
    const { statusCode, headers, body } = await exportOf(tenant, '?kind=policy');
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    const names = body
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Entry).name);
    expect(names).toEqual(Array.from({ length: count }, (_, i) => String(i + 1)));
  });

  test('writes CSV whose cells are no formulas', async () => {
    const tenant = await server.tenant();
    await insert(tenant, 1, { name: '=cmd()' });
    const { body } = await exportOf(tenant, '?format=csv&kind=policy');
    const [header, line, end] = body.split('\r\n');
    expect(header).toBe('id,time,actor,action,kind,name,revision,requestId,detail');
    expect(line).toMatch(/^[0-9a-f-]{36},2026-01-01T00:00:00\.000001Z,cli,put,policy,'=cmd\(\),,,"\{""=n"": ?1\}"$/);
    expect(end).toBe('');
  });

  test('runs auditExportsMax times at once for a tenant', async () => {
    const tenant = await server.tenant();
    // More than the sockets hold: each export stays open until its reader leaves.
    await insert(tenant, 60_000, { name: 'n'.repeat(1000) });
    const headers = { authorization: `Bearer ${await server.member(tenant, 'security-admin')}` };
    const app = await createApp(server.config, server.services, { eventLoopDelayMsMax: 0 });
    const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/tenants/${tenant}/audit/export`;
    const ask = () =>
      new Promise<{ status: number | undefined; leave: () => void }>((resolve, reject) => {
        const request = httpRequest(url, { headers, agent: false }, (response) => {
          response.on('error', () => {}); // it is left in the middle
          resolve({ status: response.statusCode, leave: () => request.destroy() });
        });
        request.on('error', reject).end();
      });
    const open = [];
    for (let i = 0; i < limits.auditExportsMax + 1; i++) open.push(await ask());
    expect(open.map(({ status }) => status)).toEqual([
      ...Array.from({ length: limits.auditExportsMax }, () => 200),
      429,
    ]);
    for (const { leave } of open) leave();
    await app.close();
  });
});
