/** Which observations become which series. */
import { expect, test } from 'vitest';
import { createOperatorMetrics } from '../../operator/index.ts';
import { createMetrics } from '../../server/core/metrics.ts';
import type { Observation } from '../../server/core/observe.ts';

const error = new Error('no');
const ordinary: Observation[] = [
  { kind: 'compiler_ended', idleMs: 1 },
  { kind: 'kubernetes_throttled', request: 'GET /', waitMs: 1 },
  { kind: 'listen_reconnected', afterMs: 1 },
  { kind: 'reconciled', resource: 'Policy/p', ready: true, reason: '', message: '', ms: 1 },
];
const failures: Observation[] = [
  { kind: 'background_failed', task: 'one', error },
  { kind: 'background_failed', task: 'other', error },
  { kind: 'database_lost', error },
];

test.each([
  ['a server', createMetrics([])],
  ['an operator', createOperatorMetrics()],
])('%s counts failures by kind, and nothing else as one', async (_, { registry, record }) => {
  for (const observation of [...ordinary, ...failures]) record(observation);
  const counted = (await registry.getSingleMetricAsString('accord_failures_total')).match(/^accord.*$/gm);
  expect(counted).toEqual([
    'accord_failures_total{kind="background_failed"} 2',
    'accord_failures_total{kind="database_lost"} 1',
  ]);
});

test('a server and an operator in one process count each observation in one series', async () => {
  const server = createMetrics([]);
  const operator = createOperatorMetrics(server.registry);
  const observations: Observation[] = [
    ...failures,
    { kind: 'relisted', resource: 'Policy', reason: 'begin', objects: 1, changed: 1, ms: 1 },
    { kind: 'watch_resumed', resource: 'Policy', reason: 'ended', pauseMs: 1 },
    { kind: 'reconciled', resource: 'Policy/p', ready: true, reason: '', message: '', ms: 1 },
  ];
  for (const observation of observations) {
    server.record(observation);
    operator.record(observation);
  }
  const counted = (await server.registry.metrics()).match(/^accord_\w+_total.* [1-9]\d*$/gm);
  expect(counted?.toSorted()).toEqual([
    'accord_failures_total{kind="background_failed"} 2',
    'accord_failures_total{kind="database_lost"} 1',
    'accord_operator_relists_total{resource="Policy"} 1',
    'accord_operator_watch_restarts_total{resource="Policy"} 1',
    'accord_reconciled_total{ready="true"} 1',
  ]);
});
