/** Decisions by tenant and policy: which have series of their own, and that no series decreases. */
import { describe, expect, test } from 'vitest';
import { PolicyDecisions } from '../../server/authz/policy-decisions.ts';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';

function createDecisions(max: number) {
  let now = 0;
  const decisions = new PolicyDecisions(max, { now: () => now, monotonic: () => now } as never);
  return {
    ask: (policy: string, times = 1, outcome: 'allow' | 'deny' = 'allow') => {
      for (let n = 0; n < times; n++) decisions.add('t', policy, outcome);
    },
    later: (ms: number) => {
      now += ms;
    },
    /** Allows by policy. */
    allows: () =>
      Object.fromEntries(
        decisions
          .counts()
          .filter(({ labels }) => labels.outcome === 'allow')
          .map(({ labels, value }) => [labels.policy, value]),
      ),
  };
}

describe('series', () => {
  test('are those of the first policies; the rest are counted together', () => {
    const { ask, allows } = createDecisions(2);
    ask('a', 3);
    ask('b');
    ask('c', 5);
    ask('d');
    ask('a');
    expect(allows()).toEqual({ a: 4, b: 1, '(other)': 6 });
  });

  test('go to a policy that was asked more than twice as often, after policySeriesRoundMs and not before', () => {
    const { ask, later, allows } = createDecisions(2);
    ask('a', 10);
    ask('b', 2);
    ask('c', 5);
    later(limits.policySeriesRoundMs - 1);
    expect(allows()).toEqual({ a: 10, b: 2, '(other)': 5 });
    later(1);
    // It begins at 0, and what was counted with the others stays there.
    expect(allows()).toEqual({ a: 10, c: 0, '(other)': 5 });
    ask('c', 2);
    ask('b', 1);
    expect(allows()).toEqual({ a: 10, c: 2, '(other)': 6 });
  });

  test('stay where another policy was asked twice as often and no more', () => {
    const { ask, later, allows } = createDecisions(1);
    ask('a', 2);
    ask('b', 4);
    later(limits.policySeriesRoundMs);
    expect(allows()).toEqual({ a: 2, '(other)': 4 });
  });

  test('are judged by the decisions of the last round', () => {
    const { ask, later, allows } = createDecisions(1);
    ask('a', 100);
    later(limits.policySeriesRoundMs);
    allows();
    ask('a', 1);
    ask('b', 3);
    later(limits.policySeriesRoundMs);
    expect(allows()).toEqual({ b: 0, '(other)': 3 });
  });

  test('the most that wait for series are policySeriesWaitingMax; the next is not known of', () => {
    const { ask, later, allows } = createDecisions(1);
    ask('first');
    for (let n = 1; n < limits.policySeriesWaitingMax; n++) ask(`p${n}`);
    ask('last', 3); // the last one that there is room for
    ask('late', 9);
    later(limits.policySeriesRoundMs);
    expect(allows()).toEqual({ last: 0, '(other)': limits.policySeriesWaitingMax - 1 + 3 + 9 });
    ask('late', 9); // in the next round there is room again
    later(limits.policySeriesRoundMs);
    expect(allows()).toMatchObject({ late: 0 });
  });

  test('never decrease while they are there', () => {
    const { ask, later, allows } = createDecisions(3);
    let before: Record<string, number> = {};
    for (let round = 0; round < 40; round++) {
      for (let n = 0; n < 8; n++) ask(`p${n}`, ((round * 7 + n * 13) % 17) ** 2);
      later(limits.policySeriesRoundMs / 2);
      const now = allows();
      expect(Object.keys(now).length).toBeLessThanOrEqual(4);
      expect(now['(other)']).toBeGreaterThanOrEqual(before['(other)'] ?? 0);
      // A policy that lost its series and got them again begins at 0, as after a restart.
      before = now;
    }
  });
});

describe('a server', () => {
  const put = async (server: Awaited<ReturnType<typeof createTestServer>>) => {
    const tenant = await server.tenant();
    const editor = await server.member(tenant, 'config-editor');
    const token = await server.client(tenant, 'authz:evaluate');
    const response = await server.app.inject({
      method: 'PUT',
      url: `/tenants/${tenant}/policies/doc:read`,
      headers: { authorization: `Bearer ${editor}` },
      payload: { rego: 'package p\noutcome := "allow"' },
    });
    expect(response.statusCode).toBe(200);
    for (const action of ['doc:read', 'doc:read', 'doc:nonsense', 'doc:other'])
      await server.app.inject({
        method: 'POST',
        url: `/authz/${tenant}`,
        headers: { authorization: `Bearer ${token}` },
        payload: { action },
      });
    const text = await server.services.metrics.registry.metrics();
    return { tenant, lines: text.match(/^accord_policy_decisions_total.* [1-9]\d*$/gm) };
  };

  test('counts by policy; what callers name and does not exist is one series of the tenant', async () => {
    const { tenant, lines } = await put(await createTestServer());
    expect(lines).toEqual([
      `accord_policy_decisions_total{tenant="${tenant}",policy="doc:read",outcome="allow"} 2`,
      `accord_policy_decisions_total{tenant="${tenant}",policy="(none)",outcome="deny"} 2`,
    ]);
  });

  test('ACCORD_METRICS_POLICIES bounds how many policies have series', async () => {
    const { tenant, lines } = await put(await createTestServer({ ACCORD_METRICS_POLICIES: '1' }));
    expect(lines).toEqual([
      `accord_policy_decisions_total{tenant="${tenant}",policy="doc:read",outcome="allow"} 2`,
      'accord_policy_decisions_total{tenant="(other)",policy="(other)",outcome="deny"} 2',
    ]);
    const { lines: none } = await put(await createTestServer({ ACCORD_METRICS_POLICIES: '0' }));
    expect(none).toBeNull();
  });
});
