import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineDecoder } from '../../../operator/kubernetes/line-decoder.ts';
import { backoffMs } from '../../../operator/kubernetes/reflector.ts';
import { isLater } from '../../../operator/kubernetes/versions.ts';
import { limits } from '../../../server/core/limits.ts';
import { Throttle } from '../../../server/core/token-bucket.ts';

const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\n'));

describe('frames', () => {
  test('come out whole wherever the bytes were cut, also within a character', () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat({ max: 7 })), fc.string(), (lines, cuts, rest) => {
        const unfinished = rest.replaceAll('\n', '');
        const bytes = Buffer.from(`${lines.map((one) => `${one}\n`).join('')}${unfinished}`);
        const frames = new LineDecoder(10_000);
        const found: string[] = [];
        let at = 0;
        for (const cut of cuts) {
          found.push(...frames.push(bytes.subarray(at, at + cut)));
          at += cut;
        }
        found.push(...frames.push(bytes.subarray(at)));
        expect(found).toEqual(lines.map((one) => Buffer.from(one).toString('utf8')));
      }),
    );
  });

  test('are bounded (kubernetesFrameBytesMax)', () => {
    const exact = new LineDecoder(4);
    expect(exact.push(Buffer.from('ab'))).toEqual([]);
    expect(exact.push(Buffer.from('cd\n\nabcd\n'))).toEqual(['abcd', 'abcd']);
    expect(() => new LineDecoder(4).push(Buffer.from('abcde'))).toThrow(RangeError);
    const slow = new LineDecoder(4);
    slow.push(Buffer.from('abc'));
    expect(() => slow.push(Buffer.from('de'))).toThrow('more than 4 bytes');
    expect(limits.kubernetesFrameBytesMax).toBeGreaterThan(1.5 * 2 ** 20);
  });
});

test('resource versions grow as numbers do', () => {
  const big = fc.bigInt({ min: 1n, max: 2n ** 80n });
  fc.assert(
    fc.property(big, big, (a, b) => {
      expect(isLater(`${a}`, `${b}`)).toBe(a > b);
    }),
  );
  expect(isLater('x', 'y') && isLater('y', 'x') && isLater('1', '01')).toBe(true);
  expect(isLater('x', 'x')).toBe(false);
});

test('pauses grow from kubernetesRetryMsMin to kubernetesRetryMsMax and differ', () => {
  expect(backoffMs(1, 0)).toBe(limits.kubernetesRetryMsMin);
  expect(backoffMs(1, 0.999)).toBeGreaterThan(1.9 * limits.kubernetesRetryMsMin);
  expect(backoffMs(2, 0)).toBe(2 * limits.kubernetesRetryMsMin);
  for (const failures of [30, 2000]) {
    expect(backoffMs(failures, 0)).toBe(limits.kubernetesRetryMsMax / 2);
    expect(backoffMs(failures, 0.9999)).toBeLessThanOrEqual(limits.kubernetesRetryMsMax);
  }
});

test('a bucket gives what it holds, and then what comes in', () => {
  let now = 0;
  const make = () => new Throttle({ perSecond: 10, burst: 3, monotonic: () => now });
  const one = make();
  expect([one.take(), one.take(), one.take(), one.take()]).toEqual([true, true, true, false]);
  now += 100;
  expect([one.take(), one.take()]).toEqual([true, false]);
  now += 60_000;
  expect([one.take(), one.take(), one.take(), one.take()]).toEqual([true, true, true, false]);
  const other = make();
  expect([1, 2, 3, 4, 5].map(() => other.reserve())).toEqual([0, 0, 0, 100, 200]);
  now += 250;
  expect(other.reserve()).toBe(50);
});
