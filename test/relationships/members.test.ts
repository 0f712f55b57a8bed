/** Relationships, import, export and searches of members, in the Config API. */
import { describe, expect, test } from 'vitest';
import { createTestServer } from '../helpers/server.ts';
import { membersOf } from '../members/roles.ts';
import { sharingTenant } from './sharing.ts';

const server = await createTestServer();
const cars = await sharingTenant(server);
const members = await membersOf(server, cars.tenant);
const admin = members['security-admin'];
const alice = '/actors/user/alice/relationships';
await cars.relate('user/alice', 'drives', 'car/1');
await cars.relate('user/bob', 'drives', 'car/1');

describe('listing', () => {
  test('of an actor and of a resource, page by page', async () => {
    await cars.relate('user/alice', 'drives', 'car/2');
    const first = await admin('GET', `${alice}?limit=1`);
    expect([first.status, first.body.relationships]).toEqual([
      200,
      [{ relationshipType: 'drives', to: { type: 'car', id: '1' } }],
    ]);
    const second = await admin('GET', `${alice}?limit=1&cursor=${first.body.cursor}`);
    expect(second.body).toEqual({ relationships: [{ relationshipType: 'drives', to: { type: 'car', id: '2' } }] });
    const leading = await members['config-editor']('GET', '/resources/car/1/relationships');
    expect(leading.body.relationships).toEqual([
      { relationshipType: 'drives', from: { type: 'user', id: 'alice' } },
      { relationshipType: 'drives', from: { type: 'user', id: 'bob' } },
    ]);
    expect((await admin('GET', '/actors/user/nobody/relationships')).body).toEqual({ relationships: [] });
    expect((await admin('GET', `${alice}?cursor=x`)).body.code).toBe('invalid_request');
  });

  test('support sees no ids, and its use is audited; a viewer and strangers are refused', async () => {
    const { body } = await members.support('GET', '/resources/car/1/relationships');
    expect(body.relationships[0]).toEqual({ relationshipType: 'drives', from: { type: 'user', id: '***' } });
    expect((await members.audit('read', 'route')).map((one) => one.name)).toContain(
      'GET /tenants/:tenant/resources/:type/:id/relationships',
    );
    await members.refuses('GET', alice, ['security-admin', 'config-editor', 'support']);
  });
});

describe('pages of support', () => {
  const names = async () => (await members.audit('read', 'actor')).map((one) => one.name);

  test("have cursors that neither show an id nor can be made, nor belong to another actor's list", async () => {
    for (const car of ['hidden-1', 'hidden-2']) {
      await cars.relate('user/erin', 'drives', `car/${car}`);
      await cars.relate('user/finn', 'drives', `car/${car}`);
    }
    const erin = '/actors/user/erin/relationships';
    const first = await members.support('GET', `${erin}?limit=1`);
    expect(first.body.relationships).toEqual([{ relationshipType: 'drives', to: { type: 'car', id: '***' } }]);
    const { cursor } = first.body;
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('hidden');
    expect(first.headers.link).toContain(cursor);
    const second = await members.support('GET', `${erin}?limit=1&cursor=${cursor}`);
    expect([second.status, second.body.relationships.length, second.body.cursor]).toEqual([200, 1, undefined]);
    const { cursor: plain } = (await admin('GET', `${erin}?limit=1`)).body;
    for (const path of [`${erin}?cursor=${plain}`, `/actors/user/finn/relationships?cursor=${cursor}`])
      expect((await members.support('GET', path)).body.code, path).toBe('invalid_request');
  });

  test('the audit says about whom they are', async () => {
    expect(await names()).not.toContain('user/nobody');
    await members.support('GET', '/actors/user/nobody/relationships');
    expect(await names()).toContain('user/nobody');
    await admin('GET', '/actors/user/somebody/relationships');
    expect(await names()).not.toContain('user/somebody');
  });
});

describe('changing', () => {
  const to = '/actors/user/carol/relationships';

  test('a security admin makes and ends a relationship, and the audit names the member', async () => {
    const body = { relationshipType: 'drives', to: { type: 'car', id: '7' } };
    const made = await admin('POST', to, { body });
    expect([made.status, made.body]).toEqual([201, body]);
    expect(made.headers.location).toBe(`/tenants/${cars.tenant}${to}/drives/car/7`);
    expect((await admin('POST', to, { body })).status).toBe(200);
    const ended = await admin('DELETE', `${to}/drives/car/7`);
    expect([ended.status, ended.body]).toEqual([200, {}]);
    expect((await admin('DELETE', `${to}/drives/car/7`)).body.code).toBe('relationship_not_found');
    const [entry] = (await members.audit('delete', 'relationship')).slice(-1);
    expect(entry).toMatchObject({ name: 'user/carol drives car/7', actor: expect.stringMatching(/^member:/) });
  });

  test('nobody else does, and a wrong body is told', async () => {
    const body = { relationshipType: 'drives', to: { type: 'car', id: '7' } };
    await members.refuses('POST', to, ['security-admin'], body);
    await members.refuses('DELETE', `${alice}/drives/car/1`, ['security-admin']);
    const wrong = await admin('POST', to, { body: { ...body, too: 1 } });
    expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/too']);
    expect((await admin('GET', alice)).body.relationships).not.toEqual([]);
  });

  test('a key makes the request once', async () => {
    const body = { relationshipType: 'drives', to: { type: 'car', id: '8' } };
    const headers = { 'idempotency-key': 'once' };
    expect((await admin('POST', to, { body, headers })).status).toBe(201);
    const again = await admin('POST', to, { body, headers });
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true']);
  });
});

describe('import and export', () => {
  test('an import, its progress, and the export, which is audited', async () => {
    const line = { from: { type: 'user', id: 'dora' }, relationshipType: 'drives', to: { type: 'car', id: '9' } };
    const raw = { type: 'application/x-ndjson', text: `${JSON.stringify(line)}\n{}\n` };
    const done = await admin('POST', '/relationships/import?importId=first', { raw });
    expect([done.status, done.body]).toMatchObject([200, { lines: 2, created: 1, refused: 1 }]);
    expect(done.headers.location).toBe(`/tenants/${cars.tenant}/relationships/imports/first`);
    expect((await admin('GET', '/relationships/imports/first')).body).toEqual(done.body);
    const token = await server.member(cars.tenant, 'security-admin');
    const url = `/tenants/${cars.tenant}/relationships/export`;
    const exported = await server.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } });
    expect(exported.body).toContain(`${JSON.stringify(line)}\n`);
    expect((await members.audit('export', 'relationships')).length).toBe(1);
    await members.refuses('GET', '/relationships/export', ['security-admin']);
    await members.refuses('GET', '/relationships/imports/first', ['security-admin']);
    for (const role of ['config-editor', 'config-viewer', 'support'] as const)
      expect((await members[role]('POST', '/relationships/import', { raw })).status).toBe(403);
  });
});

describe('searching', () => {
  const found = (results: { id: string }[]) => results.map((one) => one.id);

  test('who may, what may she, and which actions, as AuthZEN answers a back end', async () => {
    await cars.policy(
      'car:drive',
      `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.relationshipType == "drives"
  link.to.id == input.resource.id
}`,
    );
    const [subject, action, resource] = [{ type: 'user', id: 'bob' }, { name: 'drive' }, { type: 'car', id: '1' }];
    const ask = (path: string, body: object) => members['config-editor']('POST', `/access/v1/search/${path}`, { body });
    const who = await ask('subject', { subject: { type: 'user' }, action, resource });
    expect([who.status, found(who.body.results)]).toEqual([200, ['alice', 'bob']]);
    const what = await ask('resource', { subject, action, resource: { type: 'car' } });
    expect(found(what.body.results)).toEqual(['1']);
    const which = await ask('action', { subject, resource });
    expect(which.body.results).toEqual([{ name: 'drive' }]);
    const token = await cars.backend('POST', '/access/v1/search/resource', {
      body: { subject, action, resource: { type: 'car' } },
    });
    expect(what.body.results).toEqual(token.body.results);
    const typed = await ask('subject', { subject: { type: 'usr' }, action, resource });
    expect([typed.status, typed.body.errors[0].pointer]).toEqual([400, '/subject/type']);
    await members.refuses('POST', '/access/v1/search/action', ['security-admin', 'config-editor'], {
      subject,
      resource,
    });
  });
});
