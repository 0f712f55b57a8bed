/**
 * Errors that callers see: RFC 9457 problems. A room lists its own in its problems.ts with
 * `defineProblems` and throws them by their code; http/errors.ts encodes them. The cause stays in the log.
 */

/**
 * `retryAfterSeconds`: what is refused now may be tried again after so long (Retry-After, unless the problem at hand says it
 * better). Every problem with status 429 or 503 has it. A quota is something else: only quota.ts says `rate_limited`.
 */
export type ProblemDefinition = {
  status: number;
  title: string;
  when: string;
  retryAfterSeconds?: number;
  /** What the conditions of a manifest that is refused so say. @default Invalid, and it depends on others */
  refusal?: RefusalReason;
};

export type RefusalReason = {
  /** Of the condition: one stable word. */
  reason: string;
  /** It may be accepted when something else of its tenant changes: then it is tried again. */
  dependsOnOthers?: boolean;
};

/** One wrong place in a request: a JSON pointer into the body (or `/query/x`, `/params/x`), and what is wrong there. */
export type ProblemPlace = { pointer: string; detail: string; line?: number; column?: number };

type ProblemDetails = {
  detail?: string;
  errors?: ProblemPlace[];
  cause?: unknown;
  /** Extra response headers, e.g. Retry-After or WWW-Authenticate. */
  headers?: Record<string, string>;
};

export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly errors: ProblemPlace[] | undefined;
  readonly headers: Record<string, string>;
  readonly refusal: RefusalReason | undefined;

  constructor(code: string, definition: ProblemDefinition, details: ProblemDetails) {
    super(details.detail ?? definition.when, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = definition.status;
    this.title = definition.title;
    this.errors = details.errors;
    this.refusal = definition.refusal;
    const { retryAfterSeconds } = definition;
    this.headers = {
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...details.headers,
    };
  }
}

/** A room's problems, by code. */
export type Problems = { readonly catalogue: Readonly<Record<string, ProblemDefinition>> };

/** @returns the function that makes a room's problems, with their table */
export function defineProblems<const Table extends Record<string, ProblemDefinition>>(table: Table) {
  const make = (code: keyof Table & string, details: ProblemDetails = {}): Problem =>
    new Problem(code, table[code] as ProblemDefinition, details);
  return Object.assign(make, { catalogue: table });
}

/** Problems that belong to no room. */
export const problem = defineProblems({
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    when: 'The request is malformed or violates a validation rule.',
    refusal: { reason: 'Invalid' },
  },
  client_closed_request: {
    status: 499,
    title: 'Client closed request',
    when: 'The client closed the connection before processing started or ended. No client receives this response.',
  },
  unauthenticated: { status: 401, title: 'Not authenticated', when: 'The request has no valid access token.' },
  tenant_not_found: {
    status: 404,
    title: 'Tenant not found',
    when: 'The tenant does not exist or is disabled.',
    refusal: { reason: 'TenantNotFound', dependsOnOthers: true },
  },
  forbidden: { status: 403, title: 'Forbidden', when: 'The caller is not allowed to do this.' },
  not_found: { status: 404, title: 'Not found', when: 'The path does not exist, or the caller cannot see it.' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    when: 'The address has no such method; the header Allow has those that it has.',
  },
  precondition_failed: {
    status: 412,
    title: 'Precondition failed',
    when: 'If-Match does not match the current version of the object, or If-None-Match is * and the object exists.',
  },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    when: 'The request body is larger than the limit of its route, which detail names in bytes.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    when: 'The body is not of the media type that the route takes, such as application/json. An import must not have a Content-Encoding.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    when: 'A quota of the caller or its tenant is exhausted. RateLimit-Policy names the quota; Retry-After says when to retry.',
    retryAfterSeconds: 1,
  },
  exports_busy: {
    status: 429,
    title: 'Too many exports',
    when: 'The tenant already has the maximum number of open exports on this server.',
    retryAfterSeconds: 10,
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    when: 'The server failed to process the request. Its log has the cause.',
  },
  not_ready: {
    status: 503,
    title: 'Not ready',
    when: 'The server is starting or shutting down, the database is unreachable or read-only, or it did not respond in time.',
    retryAfterSeconds: 1,
  },
  stale: {
    status: 503,
    title: 'State too old',
    when: 'The server could not confirm its state with the database for longer than ACCORD_MAX_STALENESS.',
    retryAfterSeconds: 1,
  },
  revision_not_reached: {
    status: 503,
    title: 'Revision not reached',
    when: 'The server did not reach the revision in Accord-Min-Revision in time.',
    retryAfterSeconds: 1,
  },
});

/** A body of more bytes than its route takes, where that is known. */
export function bodyTooLarge(bytesMax?: number): Problem {
  if (bytesMax === undefined) return problem('body_too_large');
  return problem('body_too_large', { detail: `The request body is larger than the limit of ${bytesMax} bytes.` });
}

/**
 * What Fastify says of a body that it did not read, as the problem that it is.
 * @param bytesMax of the route
 */
export function bodyProblem(error: unknown, bytesMax?: number): Problem | undefined {
  const { code } = error as { code?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(bytesMax);
  return code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ? problem('unsupported_media_type') : undefined;
}
