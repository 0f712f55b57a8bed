/** What libraries fetch goes through the guard of outgoing requests: keys of clients (jwks_uri), back-channel logout, other issuers. */
import { limits } from '../core/limits.ts';
import type { Outbound } from '../core/outbound/outbound.ts';

type Request = { method?: string; headers?: ConstructorParameters<typeof Headers>[0]; body?: unknown };

type Bounds = { maxBytes: number; timeoutMs: number };
const clientBounds: Bounds = { maxBytes: limits.clientJwksBytesMax, timeoutMs: limits.backchannelTimeoutMs };

/**
 * @param tenant on whose behalf
 * @param bounds asked before each request
 */
export function fetchThrough(outbound: Outbound, tenant: string, bounds: () => Bounds = () => clientBounds) {
  return async (url: string | URL | globalThis.Request, request: Request = {}): Promise<Response> => {
    const { method = 'GET', body } = request;
    const text = body === undefined || body === null ? undefined : String(body);
    const answer = await outbound.send(
      String(url),
      {
        method: method === 'POST' ? 'POST' : 'GET',
        headers: Object.fromEntries(new Headers(request.headers)),
        ...(text === undefined ? {} : { body: text }),
      },
      { tenant, ...bounds() },
    );
    const headers = new Headers();
    for (const name of ['content-type', 'cache-control', 'expires']) {
      const value = answer.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    // A Response refuses a body with these, and a redirect is not followed.
    const isEmpty = answer.status === 204 || answer.status === 304;
    return new Response(isEmpty ? null : new Uint8Array(answer.body), { status: answer.status, headers });
  };
}
