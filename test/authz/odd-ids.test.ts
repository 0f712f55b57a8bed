/** Texts that Postgres does not hold, where a policy or a token says them: they are of nothing, and cost nobody else an answer. */
import { expect, test } from 'vitest';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from '../relationships/sharing.ts';

const server = await createTestServer();
const own = await sharingTenant(server);
const alice = { type: 'user', id: 'alice' };
const car = { type: 'car', id: 'b' };
const unless = (what: string) => `package p
default outcome := "deny"
outcome := "allow" if not found
found if {${what}}`;
await own.policy('car:other', unless('some l in input.graph.subject; l.to.id == input.resource.id'));

test.each([
  'some l in input.graph.subject; l.to.id == "a\\u0000"',
  'some l in input.graph.subject; l.to.type == "\\u0000"',
  'some l in input.graph.subject; l.type == "\\u0000"; l.to.id == "b"',
  'input["a\\u0000"] == 1',
  'input.context["a\\u0000"].x == 1',
])('U+0000 in a policy: %s', async (what) => {
  await own.policy('car:nul', unless(what));
  const answers = await Promise.all(['car:nul', 'car:other'].map((action) => own.decide(alice, action, car)));
  expect(answers).toEqual([{ outcome: 'allow' }, { outcome: 'allow' }]);
});

test.each(['a\0', 'half \ud800 of a pair'])('the actor of a token: %j', async (id) => {
  const answer = await server.app.inject({
    method: 'POST',
    url: `/authz/${own.tenant}`,
    headers: { authorization: `Bearer ${await server.user(own.tenant, id)}` },
    payload: { action: 'car:other', resource: car },
  });
  expect(answer.statusCode).toBe(401);
});
