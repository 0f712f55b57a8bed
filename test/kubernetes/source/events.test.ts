import { expect, test } from 'vitest';
import { Events } from '../../../operator/kubernetes/events.ts';
import { ObjectCache } from '../../../operator/kubernetes/object-cache.ts';
import { Writes } from '../../../operator/kubernetes/writes.ts';
import { limits } from '../../../server/core/limits.ts';
import { useCluster } from '../../helpers/cluster.ts';
import { startFaultProxy } from '../../helpers/fault-proxy.ts';
import { until } from '../../helpers/wait.ts';
import { closing, open } from './harness.ts';

const cluster = await useCluster();
const targetOf = (n: number) => ({
  ...{ kind: 'Tenant' as const, namespace: '', name: `t${n}`, generation: 1 },
  key: `Tenant//t${n}`,
  uid: `u${n}`,
});

async function world() {
  const proxy = await startFaultProxy(cluster);
  closing(() => proxy.close());
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const api = await open(proxy.kubeconfig);
  const pass = (ms: number) => {
    now += ms;
  };
  return { proxy, api, clock, pass };
}

test('a flood of events is cut off and counted: kubernetesEventsWaitingMax at once, kubernetesEventsBurstMax in a burst', async () => {
  const { proxy, api, clock, pass } = await world();
  const events = new Events({ api, clock, observe: () => {} });
  proxy.decide = () => ({ kind: 'half-open', frames: 0 });
  const tell = (n: number, reason = 'Valid') => events.tell(targetOf(n), 'Normal', reason, 'm');
  for (let i = 0; i < limits.kubernetesEventsWaitingMax; i++) tell(i);
  expect(events.dropped).toBe(0);
  tell(1000);
  expect(events.dropped).toBe(1);
  proxy.decide = () => ({ kind: 'kill' });
  proxy.killAll();
  await until('all events to be sent', () => events.sending === 0);
  expect(events.dropped).toBe(1 + limits.kubernetesEventsWaitingMax);
  proxy.decide = undefined;
  // One at a time, they are bounded by the burst alone.
  const left = limits.kubernetesEventsBurstMax - limits.kubernetesEventsWaitingMax - 1;
  const before = events.dropped;
  for (let i = 0; i < left; i++) {
    const asked = proxy.asked.length;
    tell(2000 + i);
    await until('a request', () => proxy.asked.length > asked);
    await until('the event to be sent', () => events.sending === 0);
  }
  expect(events.dropped).toBe(before);
  tell(3000);
  expect(events.dropped).toBe(before + 1);
  pass(60_000);
  tell(3001);
  await until('the event to be sent', () => events.sending === 0);
  expect(events.dropped).toBe(before + 1);
});

test('what was said last is remembered of kubernetesEventObjectsMax objects', async () => {
  const { api, clock } = await world();
  const events = new Events({ api, clock, observe: () => {} });
  const tell = (n: number) => events.tell(targetOf(n), 'Normal', 'Valid', 'm');
  for (let i = 0; i <= limits.kubernetesEventObjectsMax; i++) tell(i);
  await until('all events to be sent', () => events.sending === 0);
  const { dropped } = events;
  tell(1);
  expect(events.dropped).toBe(dropped);
  tell(0);
  expect(events.dropped).toBe(dropped + 1);
});

test('no more than kubernetesWritesPerSecondMax writes a second, after as many in a burst', async () => {
  const { api, clock, proxy } = await world();
  const store = new ObjectCache(
    () => {},
    () => {},
  );
  const writes = new Writes({ api, store, complete: () => false, clock, observe: () => {} });
  const burst = limits.kubernetesWritesPerSecondMax;
  const write = (n: number) => writes.status(targetOf(n), { observedGeneration: 1, conditions: [] });
  const writing = Array.from({ length: burst + 100 }, (_, n) => write(n));
  // Requests go out in turn: this one after the burst, and before what has to wait.
  await api.request({ method: 'GET', path: '/version' });
  const besides = limits.kubernetesRequestConnectionsMax;
  expect(proxy.asked.length).toBeLessThanOrEqual(burst + 1 + besides);
  await Promise.all(writing);
  expect(proxy.asked.length).toBe(burst + 100 + 1);
});
