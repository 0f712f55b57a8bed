/** What waits for what: no change is missed between looking at a key and its wait, and what was missed is told. */
import { describe, expect, test } from 'vitest';
import { kindNames } from '../../operator/kinds/index.ts';
import type { Leadership, LeadershipCallbacks } from '../../operator/leadership.ts';
import { workWhileLeading } from '../../operator/leadership.ts';
import { MissedWakeups } from '../../operator/missed-wakeups.ts';
import type { Key, Source } from '../../operator/source.ts';
import { longestFirst, WaitList } from '../../operator/waiting.ts';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';

function listOf() {
  const woken: Key[] = [];
  const clock = { time: 0, now: () => clock.time, monotonic: () => clock.time };
  return { woken, clock, list: new WaitList(clock, (keys) => void woken.push(...keys)) };
}

describe('a wait for a change of a tenant', () => {
  test('ends with the change, once, and for that tenant only', () => {
    const { list, woken } = listOf();
    for (const tenant of ['a', 'b']) list.waitForTenant(`key of ${tenant}`, { tenant, seen: 0 }, { for: 'x' });
    list.tenantChanged('a');
    list.tenantChanged('a');
    expect(woken).toEqual(['key of a']);
    expect([...list.list()].map(({ key }) => key)).toEqual(['key of b']);
  });

  test('is over before it begins where the change came between the look and the wait', () => {
    const { list, woken } = listOf();
    const seen = list.changesOf('a');
    list.tenantChanged('a');
    list.waitForTenant('key', { tenant: 'a', seen }, { for: 'x' });
    expect(woken).toEqual(['key']);
    expect([...list.list()]).toEqual([]);
  });

  test('is one at a time, and lasts from the first look that came to the same', () => {
    const { list, clock, woken } = listOf();
    list.waitForTenant('key', { tenant: 'a', seen: 0 }, { for: 'x' });
    clock.time = 1000;
    list.waitForTenant('key', { tenant: 'a', seen: 0 }, { for: 'x' });
    expect([...list.list()]).toEqual([{ key: 'key', since: '1970-01-01T00:00:00.000Z', for: 'x' }]);
    list.waitForOwner('key', { for: 'y' });
    expect([...list.list()]).toEqual([{ key: 'key', since: '1970-01-01T00:00:01.000Z', for: 'y' }]);
    list.tenantChanged('a');
    expect(woken).toEqual([]);
  });
});

test('of what waits as many are told as waitingShownMax says, those that wait longest', () => {
  const all = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ key: `${i}`, since: new Date(count - i).toISOString(), for: 'x' }));
  expect(longestFirst(all(limits.waitingShownMax), limits.waitingShownMax)).toHaveLength(limits.waitingShownMax);
  const shown = longestFirst(all(limits.waitingShownMax + 1), limits.waitingShownMax);
  expect(shown).toHaveLength(limits.waitingShownMax);
  expect(shown[0]?.key).toBe(`${limits.waitingShownMax}`);
  expect(shown.some(({ key }) => key === '0')).toBe(false);
});

describe('the safety net', () => {
  function net(deleting: Key[] = []) {
    const { list, clock } = listOf();
    const told: Observation[] = [];
    const source = {
      keys: (kind: string) => deleting.filter((key) => key.startsWith(`${kind}/`)),
      get: () => ({ deleting: true }),
    } as unknown as Source;
    const options = {
      waiting: list,
      source,
      kinds: kindNames,
      isPending: () => false,
      observe: (one: Observation) => void told.push(one),
    };
    return { list, clock, told, missed: new MissedWakeups(options) };
  }

  /** A resync, at which the key is looked at and waits for `what`, or for nothing. */
  function look({ list, missed }: ReturnType<typeof net>, what?: string, external = false) {
    missed.resynced();
    list.end('key');
    if (what !== undefined) list.waitForOwner('key', { for: what, external });
    missed.reconciled('key');
  }

  test('tells of a key that had waited for longer than a resync and need not have', () => {
    const one = net();
    one.list.waitForOwner('key', { for: 'x' });
    one.missed.resynced();
    one.clock.time = 600_000;
    look(one);
    expect(one.told).toEqual([{ kind: 'wakeup_missed', resource: 'key', waitedFor: 'x', waitedMs: 600_000 }]);
  });

  test.each([
    ['waits for the same still', 'x', false],
    ['waits for what others do without a word', undefined, true],
  ])('says nothing of one that %s', (_, what, external) => {
    const one = net();
    one.list.waitForOwner('key', { for: 'x', external });
    one.missed.resynced();
    look(one, what, external);
    look(one, what, external);
    expect(one.told).toEqual([]);
  });

  test('tells of an object that somebody deleted and that waits for nothing', () => {
    const one = net(['Policy/fleet/p']);
    one.missed.resynced();
    expect(one.told).toEqual([]);
    one.missed.resynced();
    expect(one.told).toEqual([{ kind: 'wakeup_missed', resource: 'Policy/fleet/p', waitedFor: 'nothing' }]);
  });
});

test('a leadership that is lost while its work is being begun begins no work', async () => {
  const began = Promise.withResolvers<void>();
  const done: string[] = [];
  let callbacks: LeadershipCallbacks | undefined;
  const lead: Leadership = (given) => {
    callbacks = given;
    return { close: async () => {} };
  };
  const leading = workWhileLeading(lead, {
    begin: async () => {
      await began.promise;
      return () => void done.push('work');
    },
    end: () => void done.push('end'),
    waiting: () => {},
  });
  const held = callbacks?.started();
  callbacks?.stopped();
  began.resolve();
  await held;
  expect([done, leading.isLeading]).toEqual([['end'], false]);
  await callbacks?.started();
  expect([done, leading.isLeading]).toEqual([['end', 'work'], true]);
});
