/** If-None-Match of a request that reads: whether the caller has what would be answered. */
import type { FastifyRequest } from 'fastify';

/** Compared weakly (RFC 9110 section 13.1.2). */
const opaque = (tag: string) => tag.trim().replace(/^W\//, '');

export function matchesIfNoneMatch(request: FastifyRequest, etag: string): boolean {
  const known = request.headers['if-none-match']?.split(',').map(opaque) ?? [];
  return known.includes(opaque(etag)) || known.includes('*');
}
