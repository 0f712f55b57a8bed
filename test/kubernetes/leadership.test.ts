/** The Lease's leadership in one process, with a clock that can be moved: what a frozen one believes when it wakes up. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { KubernetesApi } from '../../operator/kubernetes/api.ts';
import { LeaseLeadership } from '../../operator/kubernetes/lease.ts';
import { LEASE_NAME, readLease, writeLease } from '../../operator/kubernetes/lease-object.ts';
import { limits } from '../../server/core/limits.ts';
import { useCluster } from '../helpers/cluster.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { until } from '../helpers/wait.ts';

const cluster = await useCluster();
const { database } = await createTestDatabase();
let api: KubernetesApi;
beforeAll(async () => {
  api = await KubernetesApi.load({ kubeconfig: cluster.kubeconfig });
});
afterAll(() => api.close());

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function contender(namespace: string) {
  const events: string[] = [];
  const clock = { ahead: 0, now: () => Date.now(), monotonic: () => performance.now() + clock.ahead };
  const leadership = new LeaseLeadership({
    ...{ api, namespace, name: LEASE_NAME, identity: randomUUID(), database, source: namespace, adopt: false, clock },
    observe: () => {},
    exit: (why) => events.push(`exit: ${why}`),
  });
  const { close } = leadership.lead({
    started: async () => void events.push('started'),
    stopped: () => events.push('stopped'),
    waiting: (message) => events.push(`waiting: ${message}`),
  });
  closers.push(close);
  return { leadership, events, clock, close };
}

const happens = (one: ReturnType<typeof contender>, event: string) => until(event, () => one.events.includes(event));

test('a leader that was frozen has no term from the moment leaseRenewDeadlineMs has passed, before any timer tells it', async () => {
  const one = contender(await cluster.namespace());
  await happens(one, 'started');
  expect(one.leadership.term()).toMatchObject({ epoch: 1 });
  // It was renewed up to leaseRetryMs and a request ago.
  one.clock.ahead = limits.leaseRenewDeadlineMs - limits.leaseRetryMs - 2000;
  expect(one.leadership.term()).toMatchObject({ epoch: 1 });
  one.clock.ahead = limits.leaseRenewDeadlineMs;
  expect(one.leadership.term()).toBeUndefined();
  expect(one.events).toEqual(['started', 'stopped', 'exit: the Lease was not renewed for 10 s']);
  expect(one.leadership.isOver).toBe(true);
  one.clock.ahead = 0;
  expect(one.leadership.term()).toBeUndefined();
});

test('of many at once one leads; when it stops another one does, in the next term', async () => {
  const namespace = await cluster.namespace();
  const all = Array.from({ length: 6 }, () => contender(namespace));
  const leading = () => all.filter((one) => one.leadership.term() !== undefined);
  const epochs: number[] = [];
  while (all.length > 0) {
    await until('one that leads', () => leading().some((one) => one.events.at(-1) === 'started'));
    expect(leading()).toHaveLength(1);
    const [leader] = leading();
    epochs.push(leader?.leadership.term()?.epoch as number);
    all.splice(all.indexOf(leader as (typeof all)[number]), 1);
    await leader?.close();
    expect(leader?.events.at(-1)).toBe('stopped');
  }
  expect(epochs).toEqual([1, 2, 3, 4, 5, 6]);
});

test('a label on the Lease, or a lost answer, costs nothing', async () => {
  const namespace = await cluster.namespace();
  const one = contender(namespace);
  await happens(one, 'started');
  const place = { api, namespace, name: LEASE_NAME };
  const lease = await readLease(place, {});
  if (lease === undefined) throw new Error('there is no Lease');
  await writeLease(place, { ...lease, metadata: { ...lease.metadata, labels: { a: 'b' } } as never }, lease.spec, {});
  await until('a renewal', async () => (await readLease(place, {}))?.spec.renewTime !== lease.spec.renewTime);
  expect(one.events).toEqual(['started']);
  expect(one.leadership.trouble).toBeUndefined();
});

test('a Lease that somebody else takes ends the leader at its next renewal', async () => {
  const namespace = await cluster.namespace();
  const one = contender(namespace);
  await happens(one, 'started');
  const place = { api, namespace, name: LEASE_NAME };
  const lease = await readLease(place, {});
  await writeLease(place, lease, { ...lease?.spec, holderIdentity: 'thief', leaseTransitions: 9 }, {});
  await happens(one, 'exit: thief took the Lease');
  expect(one.leadership.term()).toBeUndefined();
});

test('a leader that stops leaves a Lease that nobody waits for', async () => {
  const namespace = await cluster.namespace();
  const one = contender(namespace);
  await happens(one, 'started');
  await one.close();
  const lease = await readLease({ api, namespace, name: LEASE_NAME }, {});
  expect(lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 });
});
