/** How long to wait after a failure: longer each time, and never all at the same moment. */
import { limits } from '../../server/core/limits.ts';

/** @param failures in a row, at least 1 @param random in [0, 1) @returns ms */
export function backoffMs(failures: number, random: number): number {
  const whole = limits.kubernetesRetryMsMin * 2 ** Math.min(failures, 20);
  return Math.round(Math.min(whole, limits.kubernetesRetryMsMax) * (0.5 + random / 2));
}
