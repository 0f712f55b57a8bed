/**
 * The error of an exhausted quota: what a caller or a tenant may use in a window of time. Only these 429 have the fields of
 * draft-ietf-httpapi-ratelimit-headers. A server that is busy with other work is no quota: those problems have Retry-After
 * only (retryAfterSeconds in problems.ts), because how long the work takes does not depend on what the caller used.
 */
import { type Problem, problem } from './problems.ts';

/** `name` is shown to callers. `count` requests in `windowMs`. */
type Quota = { name: string; count: number; windowMs: number };

/** @param waitMs until there is more @returns Problem rate_limited */
export function quotaExceeded({ name, count, windowMs }: Quota, waitMs: number, detail?: string): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const headers = {
    'retry-after': String(seconds),
    'ratelimit-policy': `"${name}";q=${count};w=${Math.ceil(windowMs / 1000)}`,
    ratelimit: `"${name}";r=0;t=${seconds}`,
  };
  return problem('rate_limited', { headers, ...(detail === undefined ? {} : { detail }) });
}
