/** The bound on the time of rendering, on a machine that is busy with something else. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { TemplateError } from '../../server/mail/template-error.ts';
import { withTimeLimit } from '../../server/mail/time-limit.ts';

/** Work that takes too long in its first `times`; `ended`: how often it came to its end. */
function slow(times: number) {
  let begun = 0;
  const work = () => {
    begun++;
    const until = performance.now() + (begun > times ? 0 : 1000 * limits.mailRenderMsMax);
    while (performance.now() < until);
    work.ended++;
    return begun;
  };
  work.ended = 0;
  return work;
}
const noCpu = () => 0;

describe('work', () => {
  test('that did not get the CPU is done again with more time', () => {
    expect(withTimeLimit(slow(1), noCpu)).toBe(2);
    expect(withTimeLimit(slow(limits.mailRenderAttemptsMax - 1), noCpu)).toBe(limits.mailRenderAttemptsMax);
  });

  test('that takes too long three times is refused, after mailRenderWaitMsMax each', () => {
    const began = performance.now();
    const work = slow(limits.mailRenderAttemptsMax);
    expect(() => withTimeLimit(work, noCpu)).toThrow(TemplateError);
    const waited = performance.now() - began;
    expect(waited).toBeGreaterThanOrEqual((limits.mailRenderAttemptsMax - 1) * limits.mailRenderWaitMsMax);
    expect(work.ended).toBe(0);
  });

  test('that had the CPU is not done again', () => {
    let cpu = 0;
    const work = slow(1);
    expect(() => withTimeLimit(work, () => (cpu += limits.mailRenderMsMax))).toThrow(TemplateError);
    expect(work()).toBe(2);
  });

  test('throws what it throws', () => {
    const error = new Error('its own');
    expect(() =>
      withTimeLimit(() => {
        throw error;
      }),
    ).toThrow(error);
  });
});
