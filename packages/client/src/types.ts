/** The types of an operation, taken from the generated ones. */
import type { paths } from './generated/openapi.ts';

type Lower = { GET: 'get'; POST: 'post'; PUT: 'put'; DELETE: 'delete' };
export type Method = keyof Lower;

/** The paths that have an operation of the method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in Lower[M]]: infer Operation }
    ? [Operation] extends [undefined]
      ? never
      : P
    : never;
}[keyof paths];

type OperationOf<M extends Method, P extends PathOf<M>> = P extends keyof paths
  ? Lower[M] extends keyof paths[P]
    ? paths[P][Lower[M]]
    : never
  : never;

type In<Operation, Where extends string> = Operation extends { parameters: { [K in Where]?: infer Found } }
  ? NonNullable<Found>
  : never;

/** Members that may be left out when none of theirs is required. */
type Maybe<Name extends string, Value> = [Value] extends [never]
  ? { [K in Name]?: never }
  : Record<never, never> extends Value
    ? { [K in Name]?: Value }
    : { [K in Name]: Value };

type BodyOf<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? { body: Content[keyof Content] }
  : Operation extends { requestBody?: { content: infer Content } }
    ? { body?: Content[keyof Content] }
    : { body?: never };

/** What the client fills in itself: the tenant and the Idempotency-Key. */
type WithoutTenant<Path> = [Path] extends [never] ? never : Omit<Path, 'tenant'> & { tenant?: string };

export type CallOptions = {
  headers?: Record<string, string>;
  /** Ends the call, waiting for a repetition too; it is rejected with the reason of the signal. */
  signal?: AbortSignal;
  /** Milliseconds for each attempt, its body included. */
  timeoutMs?: number;
};

export type RequestOf<M extends Method, P extends PathOf<M>> = CallOptions &
  Maybe<'path', WithoutTenant<In<OperationOf<M, P>, 'path'>>> &
  Maybe<'query', In<OperationOf<M, P>, 'query'>> &
  BodyOf<OperationOf<M, P>>;

type Answers<Operation> = Operation extends { responses: infer Responses }
  ? Responses[Extract<keyof Responses, 200 | 201 | 202 | 204>]
  : never;

type ContentOf<Answer> = Answer extends { content: infer Content }
  ? [Content] extends [undefined]
    ? undefined
    : Content[keyof Content]
  : undefined;

/** What the body of a successful answer is; undefined when it has none. */
export type DataOf<M extends Method, P extends PathOf<M>> = ContentOf<Answers<OperationOf<M, P>>>;

/** The arguments behind the path: options may be left out when nothing in them is required. */
export type Rest<M extends Method, P extends PathOf<M>> =
  Record<never, never> extends RequestOf<M, P> ? [options?: RequestOf<M, P>] : [options: RequestOf<M, P>];
