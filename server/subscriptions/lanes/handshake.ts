/** The question whether an endpoint wants events (CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery", section 4). */
import type { OutboundPool } from '../../core/outbound/outbound.ts';

/**
 * Asks an endpoint.
 * @param perSecond how many requests are meant to be sent at most
 * @returns how many it allows
 * @throws OutboundError; Error when it does not allow any
 */
export async function allowedRate(pool: OutboundPool, baseUrl: string, perSecond: number): Promise<number> {
  const origin = new URL(baseUrl).hostname;
  const headers = { 'webhook-request-origin': origin, 'webhook-request-rate': String(perSecond * 60) };
  const { status, headers: answered } = await pool.send({ method: 'OPTIONS', headers });
  const [allowed, rate] = [first(answered['webhook-allowed-origin']), first(answered['webhook-allowed-rate'])];
  if (status < 200 || status >= 300) throw new Error(`answered ${status} to the request OPTIONS of the handshake`);
  if (allowed !== '*' && allowed?.toLowerCase() !== origin.toLowerCase())
    throw new Error(`does not allow ${origin} by WebHook-Allowed-Origin`);
  const perMinute = Number(rate);
  return rate === undefined || rate === '*' || !(perMinute > 0) ? perSecond : perMinute / 60;
}

const first = (header: string | string[] | undefined) => (typeof header === 'string' ? header : header?.[0])?.trim();
