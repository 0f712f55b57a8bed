/**
 * Asks the server that served the page. The session is a cookie that scripts cannot read; `x-accord-portal`, or `x-accord-account` on a
 * tenant's sharing page, makes each request one that no other site can send.
 */
import { base, ownTenant } from './page.ts';
import { ApiProblem, NoAnswer } from './problem.ts';
import { sessionEnded } from './session-end.ts';

type Query = Record<string, string | number | boolean | undefined>;
export type Ask = {
  query?: Query;
  body?: unknown;
  /** A body that is not JSON, with its media type. */
  text?: { type: string; body: string };
  /** The ETag that was read: the write is refused (412, isConflict) when somebody else wrote since. `*`: it must exist. */
  ifMatch?: string;
  /** The write is refused (412, isConflict) when there is one already. */
  ifNoneMatch?: '*';
  /** Makes a POST safe to send again: the same answer, done once. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  accept?: string;
};
export type Answer<T> = { data: T; etag: string | undefined; status: number };

/** In the place of the ETag of what is not there. */
export const notStored = 'new';
/** The write is refused (412, isConflict) unless the object is as it was read: with this ETag, or not there. */
export const asRead = (etag: string | undefined): Pick<Ask, 'ifMatch' | 'ifNoneMatch'> =>
  etag === undefined || etag === notStored ? { ifNoneMatch: '*' } : { ifMatch: etag };

export function pathOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

function headersOf({ body, text, ifMatch, ifNoneMatch, idempotencyKey, accept }: Ask): Record<string, string> {
  return {
    [ownTenant === '' ? 'x-accord-portal' : 'x-accord-account']: '1',
    ...(accept === undefined ? {} : { accept }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(text === undefined ? {} : { 'content-type': text.type }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
}

/** @throws NoAnswer where it does not arrive, or breaks off */
export async function arriving<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new NoAnswer(error);
  }
}

/** The answer as it is, for streams and downloads. @throws ApiProblem, NoAnswer */
export async function send(method: string, path: string, ask: Ask = {}): Promise<Response> {
  const body = ask.text?.body ?? (ask.body === undefined ? undefined : JSON.stringify(ask.body));
  const asked = fetch(base + pathOf(path, ask.query), {
    ...{ method, headers: headersOf(ask), body, signal: ask.signal, credentials: 'same-origin', redirect: 'error' },
  });
  const response = await arriving(asked, ask.signal);
  if (response.ok) return response;
  const problem = await response.json().catch(() => undefined);
  if (response.status === 401) sessionEnded();
  throw new ApiProblem(response.status, problem, response.headers.get('retry-after'));
}

async function ask<T>(method: string, path: string, options: Ask = {}): Promise<Answer<T>> {
  const response = await send(method, path, options);
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
  const data = (await arriving(isJson ? response.json() : response.text(), options.signal)) as T;
  return { data, etag: response.headers.get('etag') ?? undefined, status: response.status };
}

export const api = {
  get: <T>(path: string, options?: Ask) => ask<T>('GET', path, options),
  post: <T>(path: string, options?: Ask) => ask<T>('POST', path, options),
  put: <T>(path: string, options?: Ask) => ask<T>('PUT', path, options),
  patch: <T>(path: string, options?: Ask) => ask<T>('PATCH', path, options),
  delete: <T>(path: string, options?: Ask) => ask<T>('DELETE', path, options),
};

/** The API of one tenant (C). Paths begin below it: `/policies/car-drive`. Each segment that is data goes through `segment`. */
export function tenantApi(tenant: string) {
  const c = `/tenants/${encodeURIComponent(tenant)}`;
  return {
    /** The path of C, for "show as". */
    path: (path: string, query?: Query) => pathOf(c + path, query),
    send: (method: string, path: string, options?: Ask) => send(method, c + path, options),
    get: <T>(path: string, options?: Ask) => api.get<T>(c + path, options),
    post: <T>(path: string, options?: Ask) => api.post<T>(c + path, options),
    put: <T>(path: string, options?: Ask) => api.put<T>(c + path, options),
    patch: <T>(path: string, options?: Ask) => api.patch<T>(c + path, options),
    delete: <T>(path: string, options?: Ask) => api.delete<T>(c + path, options),
    /** @param document a name of server/graphql/documents.ts */
    graphql: async <T>(document: string, variables: Record<string, unknown> = {}, signal?: AbortSignal): Promise<T> => {
      const answer = await api.post<{ data: T }>(`${c}/graphql`, { body: { document, variables }, signal });
      return answer.data.data;
    },
  };
}
export type TenantApi = ReturnType<typeof tenantApi>;

export const segment = encodeURIComponent;
