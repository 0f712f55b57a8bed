/** The bound on the time of rendering, on a machine that is busy with something else. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { inTime, TemplateError } from '../../server/mail/in-time.ts';

/** Work that takes too long in its first `times`. */
function slow(times: number) {
  let begun = 0;
  return () => {
    begun++;
    const until = performance.now() + (begun > times ? 0 : 1000 * limits.mailRenderMsMax);
    while (performance.now() < until);
    return begun;
  };
}
const noCpu = () => 0;

describe('work', () => {
  test('that did not get the CPU is done again with more time', () => {
    expect(inTime(slow(1), noCpu)).toBe(2);
  });

  test('that takes too long three times is refused', () => {
    expect(() => inTime(slow(3), noCpu)).toThrow(TemplateError);
  });

  test('that had the CPU is not done again', () => {
    let cpu = 0;
    const work = slow(1);
    expect(() => inTime(work, () => (cpu += limits.mailRenderMsMax))).toThrow(TemplateError);
    expect(work()).toBe(2);
  });

  test('throws what it throws', () => {
    const error = new Error('its own');
    expect(() =>
      inTime(() => {
        throw error;
      }),
    ).toThrow(error);
  });
});
