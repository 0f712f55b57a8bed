import type { ProblemCode } from './generated/problems.ts';

/** A wrong place of a request: `pointer` is a JSON pointer into the body, or begins with /query, /params or /headers. */
export type WrongPlace = { pointer?: string; detail?: string; line?: number; column?: number };

/** What all errors of the client are, except those of wrong arguments (TypeError) and the reason of an aborted signal. */
export class AccordError extends Error {
  override name = 'AccordError';
}

/** The server answered with an error. */
export class AccordResponseError extends AccordError {
  override name = 'AccordResponseError';
  readonly status: number;
  /** Stable, as docs/problems.md lists them; undefined when the answer is not Accord's, such as a proxy's. */
  readonly code: ProblemCode | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  /** Name it when you ask for help: logs and traces of the server have it too. */
  readonly requestId: string | undefined;
  readonly errors: readonly WrongPlace[];
  readonly headers: Headers;

  /** @param text the body of the answer */
  constructor(operation: string, status: number, headers: Headers, text: string) {
    const problem = problemOf(headers, text);
    const said = problem ? `${problem.code}: ${problem.detail ?? problem.title}` : 'no problem document';
    super(`${operation} was answered ${status} ${said}`);
    this.status = status;
    this.headers = headers;
    this.code = problem?.code;
    this.title = problem?.title;
    this.detail = problem?.detail;
    this.requestId = problem?.requestId ?? headers.get('x-request-id') ?? undefined;
    this.errors = Array.isArray(problem?.errors) ? problem.errors : [];
  }

  /** Milliseconds that the server asks to wait; undefined when it does not say. */
  get retryAfterMs(): number | undefined {
    const seconds = this.headers.get('retry-after');
    return seconds !== null && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
  }
}

/** There was no whole answer: the connection failed, or ended too early. The server may have done what was asked. */
export class AccordNetworkError extends AccordError {
  override name = 'AccordNetworkError';
}

/** There was no whole answer in time. The server may have done what was asked. */
export class AccordTimeoutError extends AccordError {
  override name = 'AccordTimeoutError';
}

/** No access token could be had. */
export class AccordTokenError extends AccordError {
  override name = 'AccordTokenError';
  /** The status of the token endpoint; undefined when there was no answer. */
  readonly status: number | undefined;
  /** The OAuth error, such as invalid_client. */
  readonly error: string | undefined;

  constructor(message: string, options: ErrorOptions & { status?: number; error?: string } = {}) {
    super(message, options);
    this.status = options.status;
    this.error = options.error;
  }
}

type Problem = {
  code: ProblemCode;
  title: string;
  detail?: string;
  requestId?: string;
  errors?: WrongPlace[];
};

function problemOf(headers: Headers, text: string): Problem | undefined {
  if (!headers.get('content-type')?.startsWith('application/problem+json')) return undefined;
  try {
    const problem = JSON.parse(text) as Problem | null;
    return typeof problem?.code === 'string' ? problem : undefined;
  } catch {
    return undefined;
  }
}
