/**
 * Owns how many requests a second one caller may send to this server. Counts start anew each second, so what is
 * remembered is bounded by what arrives in one. Synchronous, because every decision passes here: the plugin's async hook
 * puts the hooks after it, and so each request's start, into another turn.
 */
import type { Clock } from './core/clock.ts';
import type { App } from './core/http.ts';
import { limits } from './core/limits.ts';
import { problem } from './core/problems.ts';

const WINDOW_MS = 1000;

/** Limits all routes. Who a caller is, is what it says in Authorization, else its address. @param max requests a second */
export function limitRates(app: App, max: number, clock: Clock): void {
  let counts = new Map<string, number>();
  let endsAt = Number.NEGATIVE_INFINITY;
  app.addHook('onRequest', (request, reply, done) => {
    const now = clock.monotonic();
    if (now >= endsAt || counts.size >= limits.rateLimitCallersMax) {
      counts = new Map();
      endsAt = now + WINDOW_MS;
    }
    const caller = request.headers.authorization ?? request.ip;
    const count = (counts.get(caller) ?? 0) + 1;
    counts.set(caller, count);
    const resetSeconds = Math.ceil((endsAt - now) / 1000);
    reply.header('ratelimit-limit', max);
    reply.header('ratelimit-remaining', Math.max(0, max - count));
    reply.header('ratelimit-reset', resetSeconds);
    done(count > max ? problem('rate_limited', { headers: { 'retry-after': String(resetSeconds) } }) : undefined);
  });
}
