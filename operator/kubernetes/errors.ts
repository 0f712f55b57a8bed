/** How an answer of the API server that is no success, or its absence, is told: which server, as whom, what, why. */

/** The shape of metav1.Status as far as it is read. */
type StatusBody = { message?: unknown; reason?: unknown; code?: unknown };

export class ApiError extends Error {
  /** HTTP status; 0: no answer came. */
  readonly status: number;
  /** metav1.Status.reason such as `Conflict`, or the code of a network error such as `ECONNREFUSED`. */
  readonly reason: string;
  /** How long the server asked to wait. */
  readonly retryAfterMs?: number;

  constructor(status: number, reason: string, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/** As whom we speak to which server, for messages. None of it is secret. */
export type Party = { server: string; context: string; user: string };

const TEXT_CHARS_MAX = 500;

/** An answer with a status of 300 or more. @param what such as `GET /api/v1/namespaces` */
export function refusal(party: Party, what: string, status: number, body: string, retryAfterMs?: number): ApiError {
  const { message, reason } = statusOf(body);
  const said = typeof message === 'string' && message !== '' ? message : body.slice(0, TEXT_CHARS_MAX).trim();
  const because = said === '' ? '' : `: ${said.slice(0, TEXT_CHARS_MAX)}`;
  const word = typeof reason === 'string' && reason !== '' ? reason : `${status}`;
  return new ApiError(status, word, `${sentence(party, what, status)}${because}`, retryAfterMs);
}

function sentence({ server, context, user }: Party, what: string, status: number): string {
  const who = `user ${user} of context ${context}`;
  if (status === 401) {
    return `The API server ${server} does not accept the credentials of ${who} (401); a token or certificate may have expired`;
  }
  if (status === 403) return `The API server ${server} does not allow ${who} to ${what} (403)`;
  if (status === 404) return `The API server ${server} does not know ${what} (404)`;
  if (status === 429) return `The API server ${server} is busy and asks to wait before ${what} (429)`;
  return `The API server ${server} answered ${what} with ${status}`;
}

const network: Record<string, string> = {
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'has a name that cannot be resolved',
  EAI_AGAIN: 'has a name that cannot be resolved at present',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ECONNRESET: 'broke the connection',
  UND_ERR_SOCKET: 'broke the connection',
  UND_ERR_CONNECT_TIMEOUT: 'does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'does not answer',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of an answer',
  TimeoutError: 'did not answer in time',
  AbortError: 'was not waited for',
};

const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|EPROTO/;

/** No answer, or half of one. */
export function silence(party: Party, what: string, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code, name = '', message = '' } = (error ?? {}) as { code?: unknown; name?: string; message?: string };
  const reason = typeof code === 'string' ? code : name;
  const plain = message.split('\n', 1)[0]?.slice(0, TEXT_CHARS_MAX) ?? '';
  const how = certificate.test(reason)
    ? `cannot be trusted, or does not trust our certificate (${plain})`
    : (network[reason] ?? `could not be asked (${plain})`);
  return new ApiError(0, reason, `The API server ${party.server} (context ${party.context}) ${how}: ${what}`);
}

function statusOf(body: string): StatusBody {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
