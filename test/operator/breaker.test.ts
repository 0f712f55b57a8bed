import { describe, expect, test } from 'vitest';
import { Breaker } from '../../operator/breaker.ts';
import { limits } from '../../server/core/limits.ts';

const keys = (count: number, tenant = 't') => Array.from({ length: count }, (_, i) => `Policy/default/${tenant}-${i}`);

function gone(breaker: Breaker, count: number, tenant = 't') {
  for (const key of keys(count, tenant)) breaker.gone(key, tenant);
}

describe('mass-delete breaker', () => {
  test('ten rows go, however many of the whole they are; eleven of twenty do not', () => {
    const breaker = new Breaker();
    gone(breaker, limits.sweepRowsMax);
    expect(breaker.holds('t', { ofTenant: 10, ofAll: 10 }, 0)).toBeUndefined();
    gone(breaker, limits.sweepRowsMax + 1);
    expect(breaker.holds('t', { ofTenant: 20, ofAll: 1000 }, 0)).toEqual({ gone: 11, total: 20, everywhere: false });
  });

  test('a fifth goes, however many rows it is; one more does not', () => {
    const breaker = new Breaker();
    gone(breaker, 20);
    expect(breaker.holds('t', { ofTenant: 100, ofAll: 100 }, 0)).toBeUndefined();
    gone(breaker, 21);
    expect(breaker.holds('t', { ofTenant: 100, ofAll: 100 }, 0)).toMatchObject({ gone: 21 });
  });

  test('small tenants that all go at once are held together', () => {
    const breaker = new Breaker();
    for (let i = 0; i < 5; i++) gone(breaker, 5, `t${i}`);
    expect(breaker.holds('t0', { ofTenant: 5, ofAll: 25 }, 0)).toEqual({ gone: 5, total: 5, everywhere: true });
  });

  test('deletions one after the other count together for a while', () => {
    const breaker = new Breaker();
    const all = keys(30);
    for (const [i, key] of all.slice(0, 10).entries()) {
      breaker.gone(key, 't');
      expect(breaker.holds('t', { ofTenant: 30 - i, ofAll: 30 - i }, i)).toBeUndefined();
      breaker.deleted(key, i);
    }
    breaker.gone(all[10] as string, 't');
    expect(breaker.holds('t', { ofTenant: 20, ofAll: 20 }, 10)).toMatchObject({ gone: 1 });
    const later = new Breaker();
    for (const key of all.slice(0, 10)) {
      later.gone(key, 't');
      later.deleted(key, 0);
    }
    later.gone(all[10] as string, 't');
    expect(later.holds('t', { ofTenant: 20, ofAll: 20 }, limits.sweepWindowMs)).toBeUndefined();
  });

  test('a manifest that comes back was not lost, however often it goes', () => {
    const breaker = new Breaker();
    for (let i = 0; i < 20; i++) {
      breaker.gone('Policy/default/one', 't');
      expect(breaker.holds('t', { ofTenant: 2, ofAll: 2 }, i)).toBeUndefined();
      breaker.deleted('Policy/default/one', i);
      breaker.there('Policy/default/one');
    }
  });

  test('held stays held while some are missing, also when the rest of them is few', () => {
    const breaker = new Breaker();
    gone(breaker, 15);
    expect(breaker.holds('t', { ofTenant: 20, ofAll: 20 }, 0)).toBeDefined();
    for (const key of keys(14)) breaker.there(key);
    expect(breaker.holds('t', { ofTenant: 20, ofAll: 20 }, limits.sweepWindowMs * 2)).toMatchObject({ gone: 1 });
    breaker.there(keys(15)[14] as string);
    breaker.gone(keys(1)[0] as string, 't');
    expect(breaker.holds('t', { ofTenant: 20, ofAll: 20 }, limits.sweepWindowMs * 2)).toBeUndefined();
  });

  test('the exact number confirms those that are gone now, and no others', () => {
    const breaker = new Breaker();
    gone(breaker, 15);
    breaker.holds('t', { ofTenant: 20, ofAll: 20 }, 0);
    expect(breaker.confirm('t', 14)).toBe(false);
    expect(breaker.confirm('t', 15)).toBe(true);
    expect(keys(15).every((key) => breaker.isReleased(key))).toBe(true);
    expect(breaker.holds('t', { ofTenant: 20, ofAll: 20 }, 0)).toBeUndefined();
    for (const key of keys(15)) breaker.deleted(key, 0);
    breaker.gone('Policy/default/other', 't');
    expect(breaker.isReleased('Policy/default/other')).toBe(false);
    expect(breaker.holds('t', { ofTenant: 5, ofAll: 5 }, 0)).toBeUndefined();
  });

  test('what is released may go and counts for nobody; what goes later counts again', () => {
    const breaker = new Breaker();
    gone(breaker, 15);
    gone(breaker, 1, 'other');
    expect(breaker.holds('t', { ofTenant: 16, ofAll: 17 }, 0)).toBeDefined();
    breaker.release(breaker.goneKeys('t'));
    expect(keys(15).every((key) => breaker.isReleased(key))).toBe(true);
    expect(breaker.holds('t', { ofTenant: 16, ofAll: 17 }, 0)).toBeUndefined();
    for (const key of keys(15)) breaker.deleted(key, 0);
    breaker.release(['Policy/default/never-gone']);
    expect(breaker.isReleased('Policy/default/never-gone')).toBe(false);
    for (const key of keys(11, 'late')) breaker.gone(key, 't');
    expect(breaker.holds('t', { ofTenant: 11, ofAll: 12 }, 0)).toMatchObject({ gone: 11 });
  });
});
