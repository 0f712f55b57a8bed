/** The decision log while Postgres takes no connections: records wait, and closing does not wait for them. */
import { expect, test } from 'vitest';
import { DecisionLog } from '../../server/authz/index.ts';
import { createEncrypter } from '../../server/core/encrypter.ts';
import type { Observation } from '../../server/core/observe.ts';
import { EventHints } from '../../server/room/events.ts';
import { asAdmin, outageOf } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { masterKey } from '../helpers/server.ts';
import { until, untilPasses } from '../helpers/wait.ts';

const { database, adminUrl } = await createTestDatabase();
const outage = outageOf(adminUrl);

function createLog() {
  const observations: Observation[] = [];
  const log = new DecisionLog(database, (one) => observations.push(one), createEncrypter(masterKey), new EventHints());
  const add = (tenant: string, count: number) => {
    for (let index = 0; index < count; index++) {
      log.add(
        { mode: 'all' },
        {
          ...{ tenant, at: Date.UTC(2026, 0, 3) + index, caller: 'client:b', request: { action: `n${index}` } },
          ...{ answer: { outcome: 'allow' }, policyNumber: 1, revision: 1, durationUs: 1, requestId: 'r' },
        },
      );
    }
  };
  const failures = () => observations.filter(({ kind }) => kind === 'background_failed').length;
  return { log, observations, add, failures };
}

test('what cannot be written during an outage is written after it', async () => {
  const { log, observations, add, failures } = createLog();
  await outage.begin();
  try {
    add('one', 600);
    await until('two failures', () => failures() >= 2);
  } finally {
    await outage.end();
  }
  await untilPasses('all records', async () => {
    const rows = await asAdmin<{ count: string }>(
      adminUrl,
      `select count(*) from accord.decision where tenant = 'one'`,
    );
    expect(rows[0]?.count).toBe('600');
  });
  await log.close();
  expect(observations.filter(({ kind }) => kind !== 'background_failed')).toEqual([]);
});

test('closing ends during an outage, and tells how many records it drops', async () => {
  const { log, observations, add, failures } = createLog();
  await outage.begin();
  try {
    add('two', 1200);
    await until('a failure', () => failures() >= 1);
    await log.close();
  } finally {
    await outage.end();
  }
  expect(observations).toContainEqual({ kind: 'decision_log_dropped', tenant: 'two', count: 1200 });
});
