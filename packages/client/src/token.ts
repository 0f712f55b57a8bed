/** Where access tokens come from. */
import { AccordTokenError } from './errors.ts';
import { monotonic, within } from './waiting.ts';

export type ClientCredentials = {
  clientId: string;
  clientSecret: string;
  /** Words with spaces between. Default: those of the client. */
  scope?: string;
  /** Default: the token endpoint of the tenant's own issuer. */
  tokenUrl?: string;
  /** Further parameters of the request, such as `resource`, or `audience` for other issuers. */
  parameters?: Record<string, string>;
};

/**
 * An access token; a function that gives one, which is called for each attempt and has its time and signal; or the secret of a
 * client. What the function throws is an AccordTokenError; one that it makes itself says by its `status` whether to try again.
 */
export type TokenOption =
  | string
  | ((options: { signal?: AbortSignal }) => string | Promise<string>)
  | ClientCredentials;

export type TokenSource = {
  /** @throws AccordTokenError also when there is none within the time; the reason of the signal */
  get(timeoutMs: number, signal?: AbortSignal): Promise<string>;
  /** The server refused the token. @returns whether there may be a better one */
  refused(token: string): boolean;
};

type Fetch = typeof fetch;
type Kept = { token: string; renewAt: number };

export function tokenSource(option: TokenOption, issuer: string, timeoutMs: number, fetcher: Fetch): TokenSource {
  if (typeof option === 'string') return { get: async () => option, refused: () => false };
  if (typeof option === 'function')
    return {
      get: (atMostMs, signal) =>
        waitFor('The function for a token', async (stop) => option({ signal: stop }), atMostMs, signal),
      refused: () => false,
    };
  return credentialsSource(option, issuer, timeoutMs, fetcher);
}

const requestAt = (url: string) => `The request for a token at ${url}`;

/** Keeps the token until shortly before it expires. Callers that come meanwhile share one request. */
function credentialsSource(of: ClientCredentials, issuer: string, timeoutMs: number, fetcher: Fetch): TokenSource {
  let kept: Kept | undefined;
  let asking: Promise<Kept> | undefined;
  const url = of.tokenUrl ?? `${issuer}/token`;
  const ask = () => {
    asking ??= request(of, url, timeoutMs, fetcher)
      .then((one) => {
        kept = one;
        return one;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  return {
    async get(atMostMs, signal) {
      signal?.throwIfAborted();
      if (kept && monotonic() < kept.renewAt) return kept.token;
      // The request is that of others too: a caller that goes leaves it running.
      return (await waitFor(requestAt(url), ask, atMostMs, signal)).token;
    },
    refused(token) {
      if (kept?.token === token) kept = undefined;
      return true;
    },
  };
}

/** Waits no longer than the time and the signal say, whatever the work does. */
async function waitFor<Result>(
  what: string,
  work: (stop: AbortSignal) => Promise<Result>,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Result> {
  try {
    return await within(what, timeoutMs, signal, (stop) => unlessAborted(work(stop), stop));
  } catch (error) {
    if (signal?.aborted) throw error;
    const { message, cause } = error as Error;
    throw cause instanceof AccordTokenError ? cause : new AccordTokenError(message, { cause: error });
  }
}

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((done, failed) => {
    const stop = () => failed(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(done, failed).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Renews a minute before the token expires, and one that lives shorter after nine tenths of its life. */
const renewIn = (lifeMs: number) => Math.max(lifeMs - 60_000, lifeMs * 0.9, 0);

async function request(of: ClientCredentials, url: string, timeoutMs: number, fetcher: Fetch): Promise<Kept> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...of.parameters });
  if (of.scope !== undefined) body.set('scope', of.scope);
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    authorization: `Basic ${btoa(`${formEncoded(of.clientId)}:${formEncoded(of.clientSecret)}`)}`,
  };
  const asked = monotonic();
  const what = requestAt(url);
  const { status, text } = await within(what, timeoutMs, undefined, async (signal) => {
    const response = await fetcher(url, { method: 'POST', headers, body, signal, redirect: 'error' });
    return { status: response.status, text: await response.text() };
  }).catch((cause: Error) => {
    throw new AccordTokenError(cause.message, { cause });
  });
  const answer = jsonOf(text);
  if (status !== 200) {
    const error = typeof answer.error === 'string' ? answer.error : undefined;
    const said = [error, answer.error_description].filter((one) => typeof one === 'string').join(': ');
    throw new AccordTokenError(`${what} was answered ${status} ${said}`.trim(), { status, ...(error && { error }) });
  }
  const { access_token: token, token_type: type, expires_in: seconds } = answer;
  if (typeof token !== 'string' || String(type).toLowerCase() !== 'bearer')
    throw new AccordTokenError(`${what} was answered without a Bearer token`, { status });
  return { token, renewAt: asked + renewIn(typeof seconds === 'number' ? seconds * 1000 : 0) };
}

/** As RFC 6749 says of names and secrets in Basic. */
const formEncoded = (text: string) => new URLSearchParams({ x: text }).toString().slice(2);

function jsonOf(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
