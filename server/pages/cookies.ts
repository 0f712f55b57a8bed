/** The cookies of pages: read by name, and set for the pages below one path. */
import type { FastifyReply } from 'fastify';

/** @returns undefined also when there are several, of which one may be planted */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  const start = `${name}=`;
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  return values.length === 1 ? values[0]?.slice(start.length) : undefined;
}

type Cookie = { name: string; path: string; maxAgeMs: number; secure: boolean };

/** @param value undefined: the cookie goes */
export function keepCookie(
  reply: FastifyReply,
  { name, path, maxAgeMs, secure }: Cookie,
  value: string | undefined,
): void {
  const age = value === undefined ? 0 : Math.floor(maxAgeMs / 1000);
  const cookie = `${name}=${value ?? ''}; Path=${path}; Max-Age=${age}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const before = reply.getHeader('set-cookie');
  reply.header('set-cookie', before === undefined ? cookie : [before, cookie].flat());
}
