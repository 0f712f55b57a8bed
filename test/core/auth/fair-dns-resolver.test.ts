import type { LookupAddress } from 'node:dns';
import { expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { FairDnsResolver } from '../../../server/core/outbound/fair-dns-resolver.ts';
import { untilPasses } from '../../helpers/wait.ts';

const found: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];

/** A resolver that answers when it is told to. */
function zone() {
  const asked: string[] = [];
  const answers = new Map<string, () => void>();
  const resolver = new FairDnsResolver((hostname) => {
    asked.push(hostname);
    return new Promise((done) => answers.set(hostname, () => done(found)));
  });
  const find = (hostname: string, signal = new AbortController().signal) =>
    resolver.find(hostname.split('-')[0] as string, hostname, signal);
  return { asked, find, answer: (hostname: string) => answers.get(hostname)?.() };
}

test('dnsLookupsMax run at once, one of a tenant, and tenants take turns', async () => {
  const { asked, find, answer } = zone();
  const all = ['a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'c-1'].map((name) => find(name));
  expect(asked).toEqual(['a-1', 'b-1']);
  expect(asked).toHaveLength(limits.dnsLookupsMax);
  for (const [done, next] of [
    ['a-1', 'a-2'],
    ['b-1', 'b-2'],
    ['a-2', 'c-1'],
    ['b-2', 'a-3'],
  ] as const) {
    answer(done);
    await untilPasses('asked.at(-1) to be next', () => expect(asked.at(-1)).toBe(next));
  }
  for (const name of ['c-1', 'a-3']) answer(name);
  expect(await Promise.all(all)).toEqual(Array(6).fill(found));
});

test('one that nobody waits for any more frees its turn, up to dnsThreadsMax, but not for its own tenant', async () => {
  const { asked, find, answer } = zone();
  const given = new AbortController();
  const late = ['a-1', 'b-1'].map((name) => find(name, given.signal));
  const more = ['a-2', 'c-1', 'd-1'].map((name) => find(name));
  given.abort();
  expect(asked).toEqual(['a-1', 'b-1', 'c-1']);
  expect(asked).toHaveLength(limits.dnsThreadsMax);
  answer('b-1');
  await untilPasses("asked.at(-1) to be 'd-1'", () => expect(asked.at(-1)).toBe('d-1'));
  for (const name of ['a-1', 'c-1', 'd-1']) answer(name);
  await untilPasses("asked.at(-1) to be 'a-2'", () => expect(asked.at(-1)).toBe('a-2'));
  answer('a-2');
  await Promise.all([...late, ...more]);
});

test('one whose caller gave up while it waited is not looked up, and holds nobody up', async () => {
  const { asked, find, answer } = zone();
  const given = new AbortController();
  const first = find('a-1');
  const second = find('a-2', given.signal);
  const third = find('a-3');
  given.abort(new Error('too late'));
  answer('a-1');
  await first;
  await expect(second).rejects.toThrow('too late');
  await untilPasses("asked to equal ['a-1', 'a-3']", () => expect(asked).toEqual(['a-1', 'a-3']));
  answer('a-3');
  await third;
});

test("the resolver's error is the caller's, and the next has its turn", async () => {
  const resolver = new FairDnsResolver((hostname) =>
    hostname === 'bad' ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(found),
  );
  const { signal } = new AbortController();
  const bad = resolver.find('a', 'bad', signal);
  const good = resolver.find('a', 'good', signal);
  await expect(bad).rejects.toThrow('ENOTFOUND');
  expect(await good).toEqual(found);
});
