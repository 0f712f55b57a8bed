/** input.invitation: a requestToken in the context of a decision, for policies in Rego and as a graph. */
import { expect, test } from 'vitest';
import { asAdmin } from '../helpers/admin.ts';
import { oneTest } from '../helpers/drawn.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant, WallClock } from './inviting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const cars = await invitingTenant(server);
const admin = await server.client(cars.tenant, 'pg:tenant:admin');

async function decide(action: string, requestToken: unknown, car = '1', query = '') {
  const response = await server.app.inject({
    method: 'POST',
    url: `/authz/${cars.tenant}${query}`,
    headers: { authorization: `Bearer ${admin}` },
    payload: {
      ...{ subject: { id: 'bob', type: 'user' }, action, resource: { type: 'car', id: car } },
      context: { requestToken, place: 'here' },
    },
  });
  expect(response.statusCode).toBe(200);
  return response.json();
}

/** As bob, whose token has this address as a verified one. */
async function asked(rest: string, email: string | undefined, payload: object) {
  const response = await server.app.inject({
    method: 'POST',
    url: `/authz/${cars.tenant}${rest}`,
    headers: { authorization: `Bearer ${await server.user(cars.tenant, 'bob', email)}` },
    payload,
  });
  expect(response.statusCode).toBe(200);
  return response.json();
}

await cars.policy(
  'car:echo',
  'package p\noutcome := {"invitation": object.get(input, "invitation", null), "context": input.context}',
);
await cars.policy('car:blind', 'package p\noutcome := {"context": input.context}');
await cars.policy(
  'car:open',
  'package p\ndefault outcome := "deny"\noutcome := "allow" if input.invitation.to == input.resource',
);
for (const [name, condition] of [
  ['car:graph', { type: 'invitation' }],
  ['car:graph-other', { type: 'invitation', relationshipType: 'cleans' }],
] as const) {
  const put = await cars.config('PUT', `/policies/${name}`, { body: { graph: oneTest([condition], 'all') } });
  expect([name, put.status, put.body]).toEqual([name, 200, {}]);
}

test('a valid token becomes input.invitation and leaves the context', async () => {
  const { requestToken, invitationId, expiresAt } = await cars.invite();
  expect(expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/); // as input.time
  expect((await decide('car:echo', requestToken)).outcome).toEqual({
    invitation: {
      ...{ id: invitationId, relationshipType: 'drives', to: { type: 'car', id: '1' }, status: 'pending' },
      ...{ invitor: { type: 'user', id: 'alice' }, expiresAt, contactMatches: false },
    },
    context: { place: 'here' },
  });
  const { explain } = await decide('car:echo', requestToken, '1', '?explain=true');
  expect(explain.facts.invitation).toMatchObject({ id: invitationId, contactMatches: false });
  expect(explain.input.invitation).toEqual(explain.facts.invitation);
});

test.each([
  ['the invited address', 'BOB.builder@example.com', true],
  ['another one', 'bob@example.com', false],
  ['none', undefined, false],
])('contactMatches of a user whose token has %s as a verified one, by each door', async (_, email, contactMatches) => {
  const { requestToken } = await cars.invite();
  const bob = await cars.user('bob', email);
  const matching =
    'package p\ndefault outcome := "deny"\noutcome := "allow" if input.invitation.contactMatches == true';
  await cars.policy('car:matching', matching);
  const condition = { type: 'attribute', path: 'invitation.contactMatches', operator: 'eq', value: true } as const;
  const graph = oneTest([{ type: 'invitation' }, condition], 'all');
  expect((await cars.config('PUT', '/policies/car:drawn', { body: { graph } })).body).toEqual({});
  const wanted = contactMatches ? 'allow' : 'deny';
  const [resource, context] = [{ type: 'car', id: '1' }, { requestToken }];
  for (const action of ['car:matching', 'car:drawn']) {
    expect((await asked('', email, { action, resource, context })).outcome).toBe(wanted);
    const { decisions } = await asked('/batch', email, { requests: [{ action, resource, context }] });
    expect(decisions.map((one: { outcome: string }) => one.outcome)).toEqual([wanted]);
    // A back end asks about bob, and has no address of his.
    expect((await decide(action, requestToken)).outcome).toBe('deny');
    const evaluation = { subject: { type: 'user', id: 'bob' }, action: { name: action.slice(4) }, resource, context };
    expect((await bob('POST', '/access/v1/evaluation', { body: evaluation })).body.decision).toBe(contactMatches);
  }
});

test('a policy that does not read it is given the context as it came', async () => {
  const { requestToken } = await cars.invite();
  expect((await decide('car:blind', requestToken)).outcome).toEqual({ context: { requestToken, place: 'here' } });
});

test.each(['car:open', 'car:graph'])('%s allows while it is pending, for its resource only', async (action) => {
  const outcome = async (token: unknown, car?: string) => (await decide(action, token, car)).outcome;
  const first = await cars.invite();
  expect(await outcome(first.requestToken)).toBe('allow');
  expect(await outcome(first.requestToken, '2')).toBe('deny');
  await cars.backend('DELETE', cars.path(`/${first.invitationId}`));
  expect(await outcome(first.requestToken)).toBe('deny');

  const second = await cars.invite();
  clock.advance(60_000);
  const resent = await cars.backend('POST', cars.path(`/${second.invitationId}/resend`));
  expect(await outcome(second.requestToken)).toBe('deny');
  expect(await outcome(resent.body.requestToken)).toBe('allow');
  await cars.accept(await cars.user('bob'), 'bob', resent.body.requestToken);
  expect(await outcome(resent.body.requestToken)).toBe('deny');

  const third = await cars.invite({ expiresAt: new Date(clock.now() + 2000).toISOString() });
  clock.advance(1999);
  expect(await outcome(third.requestToken)).toBe('allow');
  clock.advance(1);
  expect(await outcome(third.requestToken)).toBe('deny');
});

test('the graph condition may ask for the relationship', async () => {
  const [drives, cleans] = [await cars.invite(), await cars.invite({ relationshipType: 'cleans' })];
  expect((await decide('car:graph-other', drives.requestToken)).outcome).toBe('deny');
  expect((await decide('car:graph-other', cleans.requestToken)).outcome).toBe('allow');
});

test.each([[undefined], [null], [7], [{ a: 1 }], ['x'], ['a.b.c'], ['x'.repeat(20_000)]])(
  'what is no token is none',
  async (token) => {
    expect((await decide('car:open', token)).outcome).toBe('deny');
    expect((await decide('car:echo', token)).outcome.invitation).toBeNull();
  },
);

test("another tenant's token, and an invitation that the request states itself, are none", async () => {
  const other = await invitingTenant(server);
  const { requestToken } = await other.invite();
  expect((await decide('car:open', requestToken)).outcome).toBe('deny');
  const response = await server.app.inject({
    method: 'POST',
    url: `/authz/${cars.tenant}`,
    headers: { authorization: `Bearer ${admin}` },
    payload: { action: 'car:open', resource: { type: 'car', id: '1' }, invitation: { to: { type: 'car', id: '1' } } },
  });
  expect(response.statusCode).toBe(400);
});

test('the decision log keeps no requestToken', async () => {
  const logged = await server.tenant({ decisionLog: { mode: 'all' } });
  const token = await server.client(logged, 'pg:tenant:admin');
  const payload = { action: 'car:open', context: { requestToken: 'aaaa.bbbb.cccc', place: 'here' } };
  const headers = { authorization: `Bearer ${token}` };
  await server.app.inject({ method: 'POST', url: `/authz/${logged}`, headers, payload });
  await server.services.authz.log.close();
  const rows = await asAdmin<{ request: { context: object } }>(
    server.db.adminUrl,
    'select request from accord.decision where tenant = $1',
    [logged],
  );
  expect(rows.map((row) => row.request.context)).toEqual([{ requestToken: '***', place: 'here' }]);
});
