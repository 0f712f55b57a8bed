/** What every room's routes.ts shares: the typed Fastify instance, the request's caller, and its parameters. */
import type { ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import { Type } from 'typebox';
import type { Access, Caller } from '../core/auth/schema.ts';
import { problem } from '../core/problems.ts';

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** What the route answers is for everybody, so a page of any origin may read it (cors.ts). */
    anyOrigin?: true;
    /** Answers that the method is not allowed here. */
    wrongMethod?: true;
    /** Its body holds a document of the tenant's, with objects of any names (structure.ts). */
    isDocument?: boolean;
  }
  interface FastifyRequest {
    /** Set by access.ts before any handler of a route that is not public. */
    caller: Caller | null;
  }
}

/** A tenant as a request holds it (snapshot/served-tenant.ts). */
export type RequestTenant = NonNullable<FastifyRequest['tenant']>;

/** The tenant of a route that names one in its path. */
export function tenantOf(request: Pick<FastifyRequest, 'tenant'>): RequestTenant {
  if (request.tenant === null) throw problem('internal_error', { cause: new Error('a route without a tenant') });
  return request.tenant;
}

/** The parameters of a route that names only its tenant. */
export const TenantParams = Type.Object({ tenant: Type.String() });

/**
 * A header that must be single and was sent more than once: Node keeps the first and drops the others silently, and a
 * proxy before us may look at the last.
 */
export function repeatedHeader(rawHeaders: readonly string[]): 'Host' | 'Authorization' | undefined {
  let [hosts, authorizations] = [0, 0];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4) hosts += Number(name.toLowerCase() === 'host');
    else if (name.length === 13) authorizations += Number(name.toLowerCase() === 'authorization');
  }
  if (hosts > 1) return 'Host';
  return authorizations > 1 ? 'Authorization' : undefined;
}

/** Aborts when the client has gone. */
export function whileConnected({ raw }: { raw: ServerResponse }): AbortSignal {
  const gone = new AbortController();
  if (raw.closed) gone.abort();
  raw.once('close', () => gone.abort());
  return gone.signal;
}

/** Ends the connection of an answer of which nobody takes anything for so long. To be called when it is about to be sent. */
export function endUnread({ raw }: { raw: ServerResponse }, ms: number): void {
  raw.setTimeout(ms, () => raw.destroy());
}

/** Counts that a request holds so many more, for its caller and its tenant. @throws Problem rate_limited */
export type CountMore = (request: FastifyRequest, count: number) => void;

/**
 * The serializer of answers of our own making, for a route's `serializerCompiler`: native JSON.stringify is faster than a
 * compiled serializer with a union, and no slower where a schema leaves members free.
 */
export const plainJson = () => (value: unknown) => JSON.stringify(value);

type Member = Extract<Caller, { kind: 'member' }>;

/** The caller of a Config API route. */
export function memberOf(request: { caller: Caller | null }): Member {
  if (request.caller?.kind !== 'member') throw problem('forbidden');
  return request.caller;
}
