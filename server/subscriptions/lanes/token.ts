/** The Authorization header towards an endpoint. A token of OAuth (client_credentials) is kept until it is about to expire. */
import { limits } from '../../core/limits.ts';
import type { EndpointServices } from './endpoint.ts';
import type { EndpointAuth } from './settings.ts';

/** Before its end a token is replaced: it has to arrive. */
const EARLY_MS = 30_000;

export class EndpointToken {
  readonly #services: Pick<EndpointServices, 'outbound' | 'clock'>;
  readonly #tenant: string;
  #token: Promise<{ header: string; until: number }> | undefined;

  constructor(services: Pick<EndpointServices, 'outbound' | 'clock'>, tenant: string) {
    this.#services = services;
    this.#tenant = tenant;
  }

  /** @throws OutboundError or Error when the authorization server gives no token */
  async headerOf(auth: EndpointAuth): Promise<{ authorization?: string }> {
    if (auth.type === 'none') return {};
    if (auth.type === 'bearer') return { authorization: `Bearer ${auth.token}` };
    if (auth.type === 'basic') return { authorization: basic(auth.username, auth.password) };
    const seen = this.#token;
    const kept = await seen?.catch(() => undefined);
    const isGood = kept !== undefined && kept.until > this.#services.clock.monotonic();
    // When several requests find the token too old, the first of them asks for another one.
    if (!isGood && this.#token === seen) this.#token = this.#ask(auth);
    return { authorization: (await (this.#token ?? this.#ask(auth))).header };
  }

  /** The endpoint refused it. */
  drop(): void {
    this.#token = undefined;
  }

  async #ask(auth: EndpointAuth & { type: 'oauth2' }) {
    const { outbound, clock } = this.#services;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(auth.scope === undefined ? {} : { scope: auth.scope }),
      ...(auth.audience === undefined ? {} : { audience: auth.audience }),
    });
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      authorization: basic(encoded(auth.clientId), encoded(auth.clientSecret)),
    };
    const bounds = {
      tenant: this.#tenant,
      maxBytes: limits.deliveryAnswerBytesMax,
      timeoutMs: limits.deliveryTimeoutMs,
    };
    const { status, body } = await outbound.send(
      auth.tokenUrl,
      { method: 'POST', headers, body: String(form) },
      bounds,
    );
    if (status !== 200) throw new Error(`the token endpoint answered ${status}`);
    const token = tokenIn(body);
    if (token === undefined) throw new Error('the token endpoint answered without an access_token of type Bearer');
    const lives = Math.min(token.expiresMs ?? limits.endpointTokenMsMax, limits.endpointTokenMsMax);
    return { header: `Bearer ${token.value}`, until: clock.monotonic() + Math.max(0, lives - EARLY_MS) };
  }
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** RFC 6749, section 2.3.1. */
function encoded(text: string): string {
  return String(new URLSearchParams({ '': text })).slice(1);
}

function tokenIn(body: Buffer): { value: string; expiresMs?: number } | undefined {
  let answer: Record<string, unknown>;
  try {
    answer = JSON.parse(body.toString('utf8')) ?? {};
  } catch {
    return undefined;
  }
  const { access_token: value, token_type: type, expires_in: seconds } = answer;
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) return undefined;
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') return undefined;
  return { value, ...(typeof seconds === 'number' ? { expiresMs: seconds * 1000 } : {}) };
}
