/** Growing delays, minute by minute. */
import { describe, expect, test } from 'vitest';
import { countAttempt, uncountAttempt } from '../../server/accounts/rules.ts';
import type { AttemptKind } from '../../server/accounts/schema.ts';
import { limits } from '../../server/core/limits.ts';

const MINUTE_MS = 60_000;
const instant = (ms: number) => new Date(ms).toISOString();

/** A count as the database keeps it. */
function counting(kind: AttemptKind) {
  let row = { failures: 0, counted_at: instant(0), blocked_until: instant(0) };
  const keep = ({ failures, countedAt, blockedUntil }: ReturnType<typeof uncountAttempt>) => {
    row = { failures, counted_at: instant(countedAt), blocked_until: instant(blockedUntil) };
  };
  return {
    failures: () => row.failures,
    /** @returns what ends the attempt as no failure; undefined when it was refused */
    begin(now: number): ((at?: number) => void) | undefined {
      const before = Date.parse(row.blocked_until);
      const counted = countAttempt(kind, row, now);
      if (counted.blocked) return undefined;
      keep(counted);
      return (at = now) => keep(uncountAttempt(kind, row, at, { until: counted.blockedUntil, before }));
    },
  };
}

describe('the count of a network', () => {
  test('of right passwords, and a wrong one in five, refuses nobody', () => {
    const network = counting('network');
    let refused = 0;
    for (let minute = 0; minute < 600; minute++) {
      const end = network.begin(minute * MINUTE_MS);
      if (end === undefined) refused++;
      else if (minute % 5 !== 0) end();
    }
    expect(refused).toBe(0);
    expect(network.failures()).toBeLessThanOrEqual(1);
  });

  test('of mails gives each of 60 people that sign up there, one in three minutes, a mail', () => {
    const network = counting('mail_network');
    const answers = Array.from({ length: 60 }, (_, at) => network.begin(at * 3 * MINUTE_MS));
    expect(answers).not.toContain(undefined);
  });

  test('that is full refuses no right password after another', () => {
    const network = counting('network');
    for (let i = 0; i < limits.loginNetworkFailuresFreeMax; i++) network.begin(0);
    expect(network.begin(limits.loginDelayMsMin - 1)).toBeUndefined();
    for (let i = 0; i < 100; i++) {
      const end = network.begin(limits.loginDelayMsMin + i);
      expect(end).toBeDefined();
      end?.();
    }
    expect(network.failures()).toBe(limits.loginNetworkFailuresFreeMax);
  });

  test('goes down by one each loginNetworkForgetOneMs, also where somebody tries all the time', () => {
    const network = counting('network');
    for (let i = 0; i < 10; i++) network.begin(0);
    for (let now = 0; now < limits.loginNetworkForgetOneMs; now += 1000) network.begin(now)?.();
    expect(network.failures()).toBe(10);
    network.begin(limits.loginNetworkForgetOneMs)?.();
    expect(network.failures()).toBe(9);
  });

  test('lets one attacker try loginNetworkFailuresFreeMax times, and then once each loginNetworkForgetOneMs', () => {
    const network = counting('network');
    const hours = 3;
    let tries = 0;
    for (let now = 0; now < hours * 60 * MINUTE_MS; now += 1000) {
      if (network.begin(now) !== undefined) tries++;
      // An account of the attacker's own gives it no further try.
      network.begin(now)?.();
    }
    const forgotten = (hours * 60 * MINUTE_MS) / limits.loginNetworkForgetOneMs;
    const untilSlow = Math.ceil(Math.log2(limits.loginNetworkForgetOneMs / limits.loginDelayMsMin)) + 1;
    expect(tries).toBeLessThanOrEqual(limits.loginNetworkFailuresFreeMax + untilSlow + forgotten);
  });

  test('keeps the delay of a wrong password that began while a right one was looked at', () => {
    const network = counting('network');
    for (let i = 0; i < limits.loginNetworkFailuresFreeMax; i++) network.begin(0);
    const right = network.begin(limits.loginDelayMsMin);
    const later = limits.loginDelayMsMin * 3;
    expect(network.begin(later)).toBeDefined();
    right?.(later + 1);
    expect(network.begin(later + 2)).toBeUndefined();
  });
});
