/** The decision log's queue is shared: a tenant that floods it loses its own records, and others' are written in turn. */
import { describe, expect, test } from 'vitest';
import { DecisionLog } from '../../server/authz/index.ts';
import { Shares } from '../../server/authz/shares.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { createSealer } from '../../server/core/sealer.ts';
import { createTestServer, masterKey } from '../helpers/server.ts';

const server = await createTestServer();

describe('shares', () => {
  const none = { count: 1000, chars: 1000 };

  test('drop the oldest of whoever holds most items', () => {
    const shares = new Shares<string>({ ...none, count: 4 });
    for (const [tenant, value] of ['aa1', 'aa2', 'bb1', 'aa3'].map((one) => [one.slice(0, 2), one] as const))
      expect(shares.add(tenant, value, 1)).toEqual([]);
    expect(shares.add('bb', 'bb2', 1)).toEqual(['aa']);
    expect(shares.take(10, 100)).toEqual(['aa2', 'bb1', 'aa3', 'bb2']);
    expect(shares.count).toBe(0);
  });

  test('drop the oldest of whoever holds most characters, where those are too many', () => {
    const shares = new Shares<string>({ ...none, chars: 100 });
    for (let n = 0; n < 5; n++) shares.add('many', `m${n}`, 1);
    shares.add('large', 'l1', 60);
    expect(shares.add('large', 'l2', 60)).toEqual(['large']);
    expect(shares.take(10, 1000)).toEqual(['m0', 'l2', 'm1', 'm2', 'm3', 'm4']);
  });

  test('take in turn, at most so many, and one at least', () => {
    const shares = new Shares<number>(none);
    for (let n = 0; n < 3; n++) shares.add('a', n, 10);
    shares.add('b', 9, 10);
    expect(shares.take(3, 1000)).toEqual([0, 9, 1]);
    shares.add('b', 8, 10);
    expect(shares.take(3, 5)).toEqual([2]);
    expect(shares.take(3, 5)).toEqual([8]);
    expect(shares.take(3, 5)).toEqual([]);
  });

  test('keep the order of a long queue that is taken from in parts', () => {
    const shares = new Shares<number>({ count: 10_000, chars: 10_000 });
    for (let n = 0; n < 5000; n++) shares.add('a', n, 0);
    const taken: number[] = [];
    while (shares.count > 0) taken.push(...shares.take(700, 1));
    expect(taken).toEqual(Array.from({ length: 5000 }, (_, n) => n));
  });
});

test('a tenant that floods the queue makes no other lose a record', async () => {
  const [flooding, other] = [await server.tenant(), await server.tenant()];
  const observations: Observation[] = [];
  const log = new DecisionLog(server.db.database, (one) => observations.push(one), createSealer(masterKey));
  const add = (tenant: string, index: number) =>
    log.add(
      { mode: 'all' },
      {
        ...{ tenant, at: Date.UTC(2026, 0, 3) + index, caller: 'client:b', request: { action: `n${index}` } },
        ...{ answer: { outcome: 'allow' }, policyNumber: 1, revision: 1, durationUs: 1, requestId: 'r' },
      },
    );
  const others = 150;
  for (let index = 0; index < others; index++) add(other, index);
  for (let index = 0; index < limits.decisionLogQueueMax + 5000; index++) add(flooding, index);
  await log.close();
  expect(observations).toEqual([{ kind: 'decision_log_dropped', tenant: flooding, count: 5000 + others }]);
  const viewer = await server.member(other, 'config-editor');
  const url = `/tenants/${other}/decisions?limit=200`;
  const { decisions } = (
    await server.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${viewer}` } })
  ).json();
  expect(decisions).toHaveLength(others);
});
