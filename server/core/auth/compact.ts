/**
 * How strictly a compact JWS is read (RFC 7515 section 2, RFC 4648 sections 3.2 and 3.5): three parts of base64url
 * without padding, white space or bits beyond the last byte. Decoders are lenient there, so one token would have many
 * spellings, and what stands before us might read another one.
 */
const PART = '(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]|[A-Za-z0-9_-][AQgw])?';
const COMPACT = new RegExp(`^${PART}\\.${PART}\\.${PART}$`);

export function isCompactJws(token: string): boolean {
  return COMPACT.test(token);
}
