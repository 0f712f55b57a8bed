/**
 * requestTokens: ES256 JWTs of the type accord-invitation+jwt, signed by the tenant's invitation key. They are not
 * stored: the newest one of an invitation is known by its jti, and is signed from the row whenever it is to travel.
 */
import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK, type JWK, SignJWT } from 'jose';
import { isCompactJws } from '../core/auth/compact.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import type { SigningKey } from '../keys/index.ts';
import { invitationProblem } from './problems.ts';
import type { InvitationRow } from './schema.ts';

const TYPE = 'accord-invitation+jwt';

/** Where the token comes from and whom it is for. */
export function partiesOf(baseUrl: string, tenant: string): { issuer: string; audience: string } {
  return { issuer: `${baseUrl}/${tenant}`, audience: `${baseUrl}/${tenant}/sharing/invitations` };
}

/** @param at the instant of signing, ms */
export function signToken(
  key: SigningKey,
  parties: { issuer: string; audience: string },
  row: Pick<InvitationRow, 'id' | 'token_id' | 'from_type' | 'name' | 'to_type' | 'direction' | 'expires_at'>,
  at: number,
): Promise<string> {
  const claims = {
    'sa:invitation:id': row.id,
    'sa:invitation:relationship': `${row.from_type}:${row.name}:${row.to_type}`,
    'sa:invitation:direction': row.direction,
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: TYPE, kid: key.kid })
    .setIssuer(parties.issuer)
    .setAudience(parties.audience)
    .setJti(row.token_id)
    .setIssuedAt(Math.floor(at / 1000))
    .setExpirationTime(Math.floor(Date.parse(row.expires_at) / 1000))
    .sign(key.privateKey);
}

/** What a token says of itself, unverified: which key and which invitation to look up. */
type Said = { kid: string; id: string; tokenId: string };

/** @throws Problem invitation_token_invalid */
export function readToken(token: string, parties: { issuer: string; audience: string }): Said {
  if (token.length > limits.tokenBytesMax || !isCompactJws(token)) throw invalid();
  let said: { header: Record<string, unknown>; payload: Record<string, unknown> };
  try {
    said = { header: { ...decodeProtectedHeader(token) }, payload: decodeJwt(token) };
  } catch {
    throw invalid();
  }
  const { alg, typ, kid } = said.header;
  const { iss, aud, jti, exp, 'sa:invitation:id': id } = said.payload;
  if (alg !== 'ES256' || typ !== TYPE || typeof kid !== 'string' || !isText(kid)) throw invalid();
  if (iss !== parties.issuer || aud !== parties.audience || typeof exp !== 'number') throw invalid();
  if (typeof id !== 'string' || !UUID.test(id) || typeof jti !== 'string' || !UUID.test(jti)) throw invalid();
  return { kid, id, tokenId: jti };
}

/** @throws Problem invitation_token_invalid unless the key signed it */
export async function verifyToken(token: string, key: JWK | undefined): Promise<void> {
  if (key === undefined) throw invalid();
  const publicKey = await importJWK(key, 'ES256');
  await compactVerify(token, publicKey, { algorithms: ['ES256'] }).catch(() => {
    throw invalid();
  });
}

/** Postgres holds no NUL. */
function isText(kid: string): boolean {
  return kid.length <= 128 && kid.isWellFormed() && !kid.includes('\0');
}

function invalid() {
  return invitationProblem('invitation_token_invalid');
}
