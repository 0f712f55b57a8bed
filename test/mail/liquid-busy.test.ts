/** The bound on the time of rendering, on a machine that is busy with something else. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { renderLiquid, TemplateError } from '../../server/mail/liquid.ts';

afterEach(() => void vi.restoreAllMocks());

/** The process is interrupted for longer than a rendering may take, in each of the first `times` renderings. */
function interrupted(times: number): void {
  const now = performance.now.bind(performance);
  let ahead = 0;
  let asked = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    // A rendering asks when it begins, and then before each part.
    if (++asked % 2 === 0 && times-- > 0) ahead += 2 * limits.mailRenderMsMax;
    return now() + ahead;
  });
}

describe('rendering', () => {
  test('that was interrupted for mailRenderMsMax is tried a second time', () => {
    interrupted(1);
    expect(renderLiquid('text', 'Hi {{ name }}', { name: 'Ann' })).toBe('Hi Ann');
  });

  test('that takes too long twice is refused', () => {
    interrupted(2);
    const rendering = () => renderLiquid('text', 'Hi {{ name }}', { name: 'Ann' });
    expect(rendering).toThrow(TemplateError);
  });
});
