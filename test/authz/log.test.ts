/** The decision log's queue is shared: a tenant that floods it loses its own records, and others' are written in turn. */
import { expect, test } from 'vitest';
import { DecisionLog } from '../../server/authz/index.ts';
import { createEncrypter } from '../../server/core/encrypter.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { EventHints } from '../../server/room/events.ts';
import { createTestServer, masterKey } from '../helpers/server.ts';

const server = await createTestServer();

test('a tenant that floods the queue makes no other lose a record', async () => {
  const [flooding, other] = [await server.tenant(), await server.tenant()];
  const observations: Observation[] = [];
  const log = new DecisionLog(
    server.db.database,
    (one) => observations.push(one),
    createEncrypter(masterKey),
    new EventHints(),
  );
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
