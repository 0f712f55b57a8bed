/** `tests` of a Policy resource: they run before anything is activated, and a failing one changes nothing. */
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../server/core/problems.ts';
import { type PolicyBody, type PolicyTest, putPolicy } from '../../server/policies/index.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { graphSaying, says } from './config-client.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const backend = await server.client(tenant, 'authz:evaluate');
const put = (name: string, body: PolicyBody, tests: PolicyTest[]) =>
  putPolicy(server.services.policies, manifestWriter, tenant, name, body, { tests });
const refusal = (name: string, body: PolicyBody, tests: PolicyTest[]) =>
  put(name, body, tests).then(
    () => expect.unreachable('the policy was accepted'),
    (error: Problem) => error,
  );
const rego = [
  'package t',
  'default outcome := "deny"',
  'outcome := "allow" if input.subject.id == input.resource.owner',
  'reason := "not yours" if outcome == "deny"',
  'obligations contains o if { outcome == "allow"; some o in {"log", "mask"} }',
].join('\n');
const input = (id: string) => ({ subject: { id }, resource: { owner: 'a' } });

async function decide(action: string, subject: string) {
  const response = await server.app.inject({
    method: 'POST',
    url: `/authz/${tenant}`,
    headers: { authorization: `Bearer ${backend}` },
    payload: { action, subject: { id: subject }, resource: { owner: 'a' } },
  });
  return response.json();
}

test('what they expect is compared member by member, obligations in any order', async () => {
  await put('t:good', { rego }, [
    { name: 'owner', input: input('a'), expect: { outcome: 'allow', obligations: ['mask', 'log'] } },
    { name: 'stranger', input: input('b'), expect: { outcome: 'deny', reason: 'not yours' } },
    { name: 'reason only', input: input('b'), expect: { reason: 'not yours' } },
  ]);
  await server.services.snapshots.refresh(tenant);
  expect((await decide('t:good', 'a')).outcome).toBe('allow');
});

test('failing ones are told each: which, what came, what was expected; and the policy that served goes on', async () => {
  await put('t:kept', { rego: says('deny') }, []);
  await server.services.snapshots.refresh(tenant);
  const before = server.services.snapshots.get(tenant);
  const { code, status, errors } = await refusal('t:kept', { rego }, [
    { name: 'right', input: input('a'), expect: { outcome: 'allow' } },
    { name: 'wrong outcome', input: input('b'), expect: { outcome: 'allow' } },
    { name: 'wrong obligations', input: input('a'), expect: { obligations: ['log'] } },
  ]);
  expect([code, status]).toEqual(['policy_tests_failed', 400]);
  expect(errors).toEqual([
    { pointer: '/tests/1', detail: 'wrong outcome: outcome is "deny", expected "allow"' },
    { pointer: '/tests/2', detail: 'wrong obligations: obligations is ["log","mask"], expected ["log"]' },
  ]);
  await server.services.snapshots.refresh(tenant);
  expect(server.services.snapshots.get(tenant)?.revision).toBe(before?.revision);
  expect((await decide('t:kept', 'a')).outcome).toBe('deny');
});

test('a new policy whose tests fail does not come to be', async () => {
  await refusal('t:never', { rego }, [{ name: 'x', input: input('a'), expect: { outcome: 'deny' } }]);
  expect(await decide('t:never', 'a')).toEqual({ outcome: 'deny', reason: 'policy_not_found' });
});

describe('a test', () => {
  test('of a drawn policy runs what was converted', async () => {
    const { errors } = await refusal('t:graph', { graph: graphSaying('deny') as never }, [
      { name: 'drawn', input: {}, expect: { outcome: 'allow' } },
    ]);
    expect(errors?.[0]?.detail).toBe('drawn: outcome is "deny", expected "allow"');
  });

  test('that loops or conflicts fails with that reason, and ends', async () => {
    const loop =
      'package t\noutcome := "allow" if { r := numbers.range(1, 5000); some i in r; some j in r; i * j == 0.5 }';
    const looped = await refusal('t:loop', { rego: loop }, [{ name: 'loop', input: {}, expect: { outcome: 'deny' } }]);
    expect(looped.errors?.[0]?.detail).toMatch(/^loop: policy_budget_exhausted: /);
    const two = 'package t\noutcome := "allow" if input.x\noutcome := "deny" if input.x';
    const conflicted = await refusal('t:two', { rego: two }, [{ name: 'two', input: { x: 1 }, expect: {} }]);
    expect(conflicted.errors?.[0]?.detail).toMatch(/^two: policy_conflict: /);
  });

  test('may state the answer of a policy that says nothing usable', async () => {
    const silent = 'package t\noutcome := "allow" if input.never';
    await put('t:silent', { rego: silent }, [
      { name: 'silent', input: {}, expect: { outcome: 'deny', reason: 'outcome_undefined' } },
    ]);
  });

  test('has the time that it states, in input.time and in time.now_ns', async () => {
    const clock = 'package t\noutcome := {"hour": time.clock(time.now_ns())[0], "time": input.time}';
    const time = '2020-02-03T17:00:00.000Z';
    await put('t:clock', { rego: clock }, [{ name: 'five', input: { time }, expect: { outcome: { hour: 17, time } } }]);
  });
});

test('fifty that hold and the last that does not: the last is told', async () => {
  const tests = Array.from({ length: 50 }, (_, n) => ({
    name: `n${n}`,
    input: input('a'),
    expect: { outcome: n === 49 ? 'deny' : 'allow' },
  }));
  expect((await refusal('t:fifty', { rego }, tests)).errors).toHaveLength(1);
});
