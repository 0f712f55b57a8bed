/** When a Lease may be taken from its holder: by what was seen and when, whatever the times in it say. */
import { expect, test } from 'vitest';
import type { Lease, LeaseSpec } from '../../../operator/kubernetes/lease-object.ts';
import { SeenLease } from '../../../operator/kubernetes/seen-lease.ts';
import { limits } from '../../../server/core/limits.ts';

function seen() {
  const clock = { at: 0, monotonic: () => clock.at };
  return { clock, lease: new SeenLease(clock) };
}

const held = (spec: LeaseSpec = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'l', namespace: 'n' },
  spec: {
    ...{ holderIdentity: 'a', leaseDurationSeconds: limits.leaseDurationMs / 1000, leaseTransitions: 1 },
    ...{ renewTime: '2020-01-01T00:00:00.000000Z', ...spec },
  },
});

test('none, and one that nobody holds, may be taken at once', () => {
  expect(seen().lease.freeInMs(undefined)).toBeLessThanOrEqual(0);
  expect(seen().lease.freeInMs(held({ holderIdentity: '' }))).toBeLessThanOrEqual(0);
});

test('one that was renewed years ago by its own words may be taken when it was seen for leaseDurationMs, and not before', () => {
  const { clock, lease } = seen();
  expect(lease.freeInMs(held())).toBe(limits.leaseDurationMs);
  clock.at = limits.leaseDurationMs - 1;
  expect(lease.freeInMs(held())).toBe(1);
  clock.at = limits.leaseDurationMs;
  expect(lease.freeInMs(held())).toBe(0);
});

test('a renewal begins the wait anew, also one whose clock goes backwards', () => {
  const { clock, lease } = seen();
  lease.freeInMs(held());
  clock.at = limits.leaseDurationMs - 1;
  expect(lease.freeInMs(held({ renewTime: '2019-01-01T00:00:00.000000Z' }))).toBe(limits.leaseDurationMs);
});

test('the holder says how long it is to be waited for', () => {
  const { lease } = seen();
  expect(lease.freeInMs(held({ leaseDurationSeconds: 60 }))).toBe(60_000);
  expect(seen().lease.freeInMs(held({ leaseDurationSeconds: null }))).toBe(limits.leaseDurationMs);
});
