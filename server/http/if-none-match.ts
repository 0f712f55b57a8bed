/** Whether a caller has what would be answered already. */
import type { FastifyRequest } from 'fastify';

/** Compared weakly (RFC 9110 section 13.1.2). */
const opaque = (tag: string) => tag.trim().replace(/^W\//, '');

export function has(request: FastifyRequest, etag: string): boolean {
  const known = request.headers['if-none-match']?.split(',').map(opaque) ?? [];
  return known.includes(opaque(etag)) || known.includes('*');
}
