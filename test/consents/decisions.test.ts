/** input.consents: what a user agreed to, in decisions by Rego and by graph; revoked or lapsed it denies from that instant. */
import { expect, test } from 'vitest';
import { archiveManifestDefinition } from '../../server/definitions/index.ts';
import { oneTest } from '../helpers/drawn.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { consenting, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);

const drawn = oneTest([{ type: 'consent', name: 'news' }], 'all');
const written = `package p
default outcome := "deny"
outcome := "allow" if {
  some consent in input.consents
  consent.name == "news"
  consent.sufficient
}`;

async function deciding() {
  const it = await consenting(server, clock);
  const put = async (name: string, body: object) => {
    const config = await configClient(server, it.tenant);
    expect((await config('PUT', `/policies/${name}`, { body })).status).toBe(200);
  };
  await put('mail:written', { rego: written });
  await put('mail:drawn', { graph: drawn });
  await put('mail:echo', { rego: 'package p\noutcome := {"consents": input.consents}' });
  const ask = async (action: string, subject: object = { id: 'alice', type: 'user' }, query = '') => {
    const token = await server.client(it.tenant, 'pg:tenant:admin');
    const response = await server.app.inject({
      method: 'POST',
      url: `/authz/${it.tenant}${query}`,
      headers: { authorization: `Bearer ${token}` },
      payload: { subject, action, resource: { type: 'mail', id: '1' } },
    });
    expect(response.statusCode).toBe(200);
    return response.json();
  };
  /** Both policies agree on it. */
  const outcome = async (subject?: object) => {
    const [rego, graph] = [await ask('mail:written', subject), await ask('mail:drawn', subject)];
    expect(rego.outcome).toBe(graph.outcome);
    return rego.outcome as string;
  };
  const consents = async (subject?: object) => (await ask('mail:echo', subject)).outcome.consents;
  return { ...it, ask, outcome, consents };
}

test('given it allows, revoked it denies from the next decision on', async () => {
  const { define, user, outcome } = await deciding();
  await define('news', { '1 a en': 0 });
  expect(await outcome()).toBe('deny');
  for (let round = 0; round < 5; round++) {
    const { id } = (await user('alice')('POST', '', item('news', '1 a en'))).body;
    expect(await outcome()).toBe('allow');
    await user('alice')('DELETE', `/${id}`);
    expect(await outcome()).toBe('deny');
  }
});

test('lapsed it denies from that instant: with the end of grace, or of the version', async () => {
  const { define, user, end, outcome, consents } = await deciding();
  await define('news', { '1 a en': 0, '2 a en': 1000 });
  await end('news', '1', { startDate: 2000, endDate: 10_000, gracePeriod: 'PT3S' });
  await user('alice')('POST', '', item('news', '1 a en'));
  await user('bob')('POST', '', item('news', '1 a en'));
  clock.advance(2000);
  const bob = { id: 'bob', type: 'user' };
  expect((await consents())[0]).toMatchObject({ version: '2', status: 'valid', sufficient: true });
  // A decision invites nobody.
  expect((await user('alice')('GET', '/me')).body.consents[0].status).toBe('valid');
  await user('alice')('GET', '/active?name=news&language=en');
  clock.advance(3000);
  expect([await outcome(), await outcome(bob)]).toEqual(['allow', 'allow']);
  expect((await consents())[0]).toMatchObject({ status: 'grace', sufficient: true });
  clock.advance(1);
  expect([await outcome(), await outcome(bob)]).toEqual(['deny', 'allow']);
  expect((await consents())[0]).toMatchObject({ status: 'expired', sufficient: false });
  clock.advance(4999);
  expect(await outcome(bob)).toBe('allow');
  clock.advance(1);
  expect(await outcome(bob)).toBe('deny');
});

test('one entry a definition, in the language of the last consent; nothing of other subjects or archived definitions', async () => {
  const { define, user, consents, tenant } = await deciding();
  await define('news', { '1 a en': 0, '1 a nl': 0 });
  await define('terms', { '1 a en': 0 });
  await user('alice')('POST', '', item('terms', '1 a en'));
  await user('alice')('POST', '', item('news', '1 a en'));
  clock.advance(1);
  await user('alice')('POST', '', item('news', '1 a nl'));
  const both = [
    { name: 'news', version: '1', document: { version: 'a', language: 'nl' }, status: 'given', sufficient: true },
    { name: 'terms', version: '1', document: { version: 'a', language: 'en' }, status: 'given', sufficient: true },
  ];
  expect(await consents()).toEqual(both);
  expect(await consents({ id: 'alice' })).toEqual(both);
  expect(await consents({ id: 'alice', type: 'car' })).toEqual([]);
  expect(await consents({ type: 'user' })).toEqual([]);
  expect(await consents({ id: 'bob', type: 'user' })).toEqual([]);
  const api = { owner: { source: 'api' }, actor: 'test' } as const;
  await archiveManifestDefinition(server.services.definitions, api, tenant, 'terms');
  await server.services.snapshots.refresh(tenant);
  expect(await consents()).toEqual(both.slice(0, 1));
});

test('where nothing is active any more, the consent is shown as expired', async () => {
  const { define, user, end, consents } = await deciding();
  await define('news', { '1 a en': 0 });
  await end('news', '1', { startDate: 1000, endDate: 2000, gracePeriod: 'PT1S' });
  await user('alice')('POST', '', item('news', '1 a en'));
  clock.advance(2000);
  expect((await consents())[0]).toMatchObject({ status: 'given' });
  clock.advance(1);
  expect(await consents()).toEqual([
    { name: 'news', version: '1', document: { version: 'a', language: 'en' }, status: 'expired', sufficient: false },
  ]);
});

test('explain shows the document and the status', async () => {
  const { define, user, ask } = await deciding();
  await define('news', { '1 a en': 0 });
  await user('alice')('POST', '', item('news', '1 a en'));
  const { explain } = await ask('mail:drawn', undefined, '?explain=true');
  const entry = {
    name: 'news',
    version: '1',
    document: { version: 'a', language: 'en' },
    status: 'given',
    sufficient: true,
  };
  expect(explain.facts.consents).toEqual([entry]);
  expect(explain.path).toEqual(['start', 'test', 'yes']);
});

test('a hundred users at once, each by its own consents', async () => {
  const { define, admin, outcome } = await deciding();
  await define('news', { '1 a en': 0 });
  const list = Array.from({ length: 50 }, (_, i) => item('news', '1 a en', { userId: `u${2 * i}` }));
  await admin('POST', '', list);
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, i) => outcome({ id: `u${i}`, type: 'user' })));
  expect(outcomes).toEqual(outcomes.map((_, i) => (i % 2 === 0 ? 'allow' : 'deny')));
});
