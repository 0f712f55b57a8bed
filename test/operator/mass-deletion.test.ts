import { describe, expect, test } from 'vitest';
import { MassDeletion } from '../../operator/mass-deletion.ts';
import { limits } from '../../server/core/limits.ts';

const keys = (count: number, tenant = 't') => Array.from({ length: count }, (_, i) => `Policy/default/${tenant}-${i}`);

const totals = (ofTenant: number, ofAll: number) => ({ ofTenant: () => ofTenant, ofAll });

function gone(guard: MassDeletion, count: number, tenant = 't') {
  for (const key of keys(count, tenant)) guard.markDeleted(key, tenant);
}

describe('the guard against mass deletion', () => {
  test('ten rows go, however many of the whole they are; eleven of twenty do not', () => {
    const guard = new MassDeletion();
    gone(guard, limits.massDeletionRowsMax);
    expect(guard.holds('t', totals(10, 10), 0)).toBeUndefined();
    gone(guard, limits.massDeletionRowsMax + 1);
    expect(guard.holds('t', totals(20, 1000), 0)).toEqual({ gone: 11, total: 20, everywhere: false });
  });

  test('a fifth goes, however many rows it is; one more does not', () => {
    const guard = new MassDeletion();
    gone(guard, 20);
    expect(guard.holds('t', totals(100, 100), 0)).toBeUndefined();
    gone(guard, 21);
    expect(guard.holds('t', totals(100, 100), 0)).toMatchObject({ gone: 21 });
  });

  test('small tenants that all go at once are held together', () => {
    const guard = new MassDeletion();
    for (let i = 0; i < 5; i++) gone(guard, 5, `t${i}`);
    expect(guard.holds('t0', totals(5, 25), 0)).toEqual({ gone: 5, total: 5, everywhere: true });
  });

  test('deletions one after the other count together for a while', () => {
    const guard = new MassDeletion();
    const all = keys(30);
    for (const [i, key] of all.slice(0, 10).entries()) {
      guard.markDeleted(key, 't');
      expect(guard.holds('t', totals(30 - i, 30 - i), i)).toBeUndefined();
      guard.rowDeleted(key, i);
    }
    guard.markDeleted(all[10] as string, 't');
    expect(guard.holds('t', totals(20, 20), 10)).toMatchObject({ gone: 1 });
    const later = new MassDeletion();
    for (const key of all.slice(0, 10)) {
      later.markDeleted(key, 't');
      later.rowDeleted(key, 0);
    }
    later.markDeleted(all[10] as string, 't');
    expect(later.holds('t', totals(20, 20), limits.massDeletionWindowMs)).toBeUndefined();
  });

  test('a manifest that comes back was not lost, however often it goes', () => {
    const guard = new MassDeletion();
    for (let i = 0; i < 20; i++) {
      guard.markDeleted('Policy/default/one', 't');
      expect(guard.holds('t', totals(2, 2), i)).toBeUndefined();
      guard.rowDeleted('Policy/default/one', i);
      guard.markPresent('Policy/default/one');
    }
  });

  test('held stays held while some are missing, also when the rest of them is few', () => {
    const guard = new MassDeletion();
    gone(guard, 15);
    expect(guard.holds('t', totals(20, 20), 0)).toBeDefined();
    for (const key of keys(14)) guard.markPresent(key);
    expect(guard.holds('t', totals(20, 20), limits.massDeletionWindowMs * 2)).toMatchObject({ gone: 1 });
    guard.markPresent(keys(15)[14] as string);
    guard.markDeleted(keys(1)[0] as string, 't');
    expect(guard.holds('t', totals(20, 20), limits.massDeletionWindowMs * 2)).toBeUndefined();
  });

  test('the exact number confirms those that are gone now, and no others', () => {
    const guard = new MassDeletion();
    gone(guard, 15);
    guard.holds('t', totals(20, 20), 0);
    expect(guard.confirm('t', 14)).toBe(false);
    expect(guard.confirm('t', 15)).toBe(true);
    expect(keys(15).every((key) => guard.isApproved(key))).toBe(true);
    expect(guard.holds('t', totals(20, 20), 0)).toBeUndefined();
    for (const key of keys(15)) guard.rowDeleted(key, 0);
    guard.markDeleted('Policy/default/other', 't');
    expect(guard.isApproved('Policy/default/other')).toBe(false);
    expect(guard.holds('t', totals(5, 5), 0)).toBeUndefined();
  });

  test('what is approved may go and counts for nobody; what goes later counts again', () => {
    const guard = new MassDeletion();
    gone(guard, 15);
    gone(guard, 1, 'other');
    expect(guard.holds('t', totals(16, 17), 0)).toBeDefined();
    guard.approve(guard.goneKeys('t'));
    expect(keys(15).every((key) => guard.isApproved(key))).toBe(true);
    expect(guard.holds('t', totals(16, 17), 0)).toBeUndefined();
    for (const key of keys(15)) guard.rowDeleted(key, 0);
    guard.approve(['Policy/default/never-gone']);
    expect(guard.isApproved('Policy/default/never-gone')).toBe(false);
    for (const key of keys(11, 'late')) guard.markDeleted(key, 't');
    expect(guard.holds('t', totals(11, 12), 0)).toMatchObject({ gone: 11 });
  });

  test('one that was approved, came back and goes again counts again; one that is approved twice counts once', () => {
    const guard = new MassDeletion();
    const [one, two, three] = keys(3) as [string, string, string];
    gone(guard, 15);
    guard.approve([one, two, three]);
    guard.approve([two]);
    guard.markPresent(one);
    guard.markDeleted(one, 't');
    guard.rowDeleted(three, 0);
    expect(guard.confirm('t', 12)).toBe(false);
    expect(guard.confirm('t', 13)).toBe(true);
    expect(guard.confirm('t', 13)).toBe(false);
    gone(guard, 16);
    expect(guard.confirm('t', 2)).toBe(true);
  });

  test('what a tenant that is held deletes holds no other tenant, whoever is asked about first', () => {
    for (const order of [
      ['small', 'large'],
      ['large', 'small'],
    ]) {
      const guard = new MassDeletion();
      gone(guard, 20, 'large');
      gone(guard, 2, 'small');
      const counts = { ofTenant: (tenant: string) => (tenant === 'large' ? 21 : 3), ofAll: 24 };
      const held = new Map(order.map((tenant) => [tenant, guard.holds(tenant, counts, 0)]));
      expect(held.get('large')).toEqual({ gone: 20, total: 21, everywhere: false });
      expect(held.get('small')).toBeUndefined();
    }
  });

  test('a few of a tenant that go after others are held together are not held with them', () => {
    const guard = new MassDeletion();
    for (let i = 0; i < 5; i++) gone(guard, 5, `t${i}`);
    expect(guard.holds('t0', totals(5, 40), 0)).toMatchObject({ everywhere: true });
    gone(guard, 3, 'later');
    expect(guard.holds('later', totals(15, 40), 0)).toBeUndefined();
    for (let i = 0; i < 5; i++) expect(guard.holds(`t${i}`, totals(5, 40), 0)).toMatchObject({ everywhere: true });
  });
});
