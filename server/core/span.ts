/** A span of a trace, as the stages of a request see it. Where nothing is traced there is none. */

/** Never of persons: no ids of subjects and resources, no addresses, nothing of a request's body. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type Span = {
  readonly traceId: string;
  /** Begins a span below this one. */
  child(name: string): Span;
  set(attributes: SpanAttributes): void;
  /** @param error what ended it, if it failed; only its name is told */
  end(error?: unknown): void;
};

/**
 * Does work as a span below another.
 * @param attributesOf what the span tells of its result
 */
export function asChild<T>(
  parent: Span,
  name: string,
  work: (span: Span) => T | Promise<T>,
  attributesOf?: (result: T) => SpanAttributes,
): T | Promise<T> {
  const span = parent.child(name);
  const ended = (result: T): T => {
    if (attributesOf !== undefined) span.set(attributesOf(result));
    span.end();
    return result;
  };
  const failed = (error: unknown): never => {
    span.end(error);
    throw error;
  };
  let result: T | Promise<T>;
  try {
    result = work(span);
  } catch (error) {
    return failed(error);
  }
  return result instanceof Promise ? result.then(ended, failed) : ended(result);
}
