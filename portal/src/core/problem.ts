/** What goes wrong when the server is asked. */
type Place = { pointer: string; detail: string; line?: number; column?: number };

/** An answer of 400 and more (RFC 9457). `code` is the stable word of docs/problems.md. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly places: readonly Place[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, body: unknown, retryAfter: string | null = null) {
    const told = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    const text = (name: string) => (typeof told[name] === 'string' ? (told[name] as string) : undefined);
    super(text('detail') ?? text('title') ?? `The server answered ${status}.`);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = text('code') ?? 'unknown';
    this.title = text('title') ?? `The server answered ${status}`;
    this.places = Array.isArray(told.errors) ? (told.errors as Place[]) : [];
    this.requestId = text('requestId');
    const seconds = Number(retryAfter ?? '');
    this.retryAfterSeconds = retryAfter !== null && Number.isFinite(seconds) ? seconds : undefined;
  }
}

/** The server did not answer: it is away, or the network is. What was asked may have been done. */
export class NoAnswer extends Error {
  constructor(cause: unknown) {
    super('The server does not answer.', { cause });
    this.name = 'NoAnswer';
  }
}

/** The connection ended while an answer arrived. */
export class BrokenOff extends Error {
  constructor(cause?: unknown) {
    super('The answer broke off.', { cause });
    this.name = 'BrokenOff';
  }
}

/** Somebody else changed it since it was read. */
export const isConflict = (error: unknown) => error instanceof ApiProblem && error.status === 412;
/** What was to be made is there already. A manifest's is told before the condition is looked at. */
export const isTaken = (error: unknown) =>
  isConflict(error) || (error instanceof ApiProblem && error.code === 'owned_by_manifest');
/** It ended, or was answered, since it was read. */
export const isOver = (error: unknown): error is ApiProblem =>
  error instanceof ApiProblem && [404, 409, 410].includes(error.status);
export const isMissing = (error: unknown) => error instanceof ApiProblem && error.status === 404;
