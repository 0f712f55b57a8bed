/** Proofs of possession (RFC 9449): that whoever presents a token has the key that the token is bound to. */
import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, type JWTVerifyResult, jwtVerify } from 'jose';
import type { Clock } from '../clock.ts';
import { limits } from '../limits.ts';
import { invalidProof } from './problems.ts';

export type PresentedProof = {
  tenant: string;
  /** Of the token. */
  jkt: string;
  token: string;
  method: string;
  /** Of the request, with its query. */
  path: string;
  /** The header DPoP. */
  proof: string | string[] | undefined;
};

/** `id`: what no other proof of the key has; until `expiresAtMs` it must not come again. */
export type Proof = { id: string; expiresAtMs: number };

/**
 * Whether the proof is of this key, this token and this request, and was made lately.
 * @param baseUrl what the path is below
 * @throws Problem unauthenticated
 */
export async function verifyProof(
  { clock, baseUrl }: { clock: Clock; baseUrl: string },
  { jkt, token, method, path, proof }: PresentedProof,
): Promise<Proof> {
  // Of several headers Node makes one text with commas, which is no JWT.
  if (typeof proof !== 'string' || proof === '') throw invalidProof('the header DPoP is missing');
  if (proof.length > limits.dpopProofCharsMax) throw invalidProof('the proof is too long');
  const nowMs = clock.now();
  const { payload, protectedHeader } = await verifiedBy(proof, nowMs);
  const { htm, htu, ath, iat, jti } = payload;
  if (typeof iat !== 'number' || Math.abs(nowMs - iat * 1000) > limits.dpopProofAgeMsMax)
    throw invalidProof('iat is not now');
  if (htm !== method) throw invalidProof('htm is not the method of the request');
  if (!isSameAddress(htu, `${baseUrl}${path}`)) throw invalidProof('htu is not the address of the request');
  if (ath !== createHash('sha256').update(token).digest('base64url')) throw invalidProof('ath is not of this token');
  if (typeof jti !== 'string' || jti === '') throw invalidProof('jti is missing');
  if ((await calculateJwkThumbprint(protectedHeader.jwk as never)) !== jkt)
    throw invalidProof('the token is bound to another key');
  const id = createHash('sha256')
    .update(JSON.stringify([jkt, jti]))
    .digest('base64url');
  return { id, expiresAtMs: iat * 1000 + limits.dpopProofAgeMsMax + 1000 };
}

async function verifiedBy(proof: string, nowMs: number): Promise<JWTVerifyResult> {
  const options = { algorithms: ['ES256'], typ: 'dpop+jwt', currentDate: new Date(nowMs) };
  return jwtVerify(proof, EmbeddedJWK, options).catch(() => {
    throw invalidProof('it is not signed by the key in its header');
  });
}

/** RFC 9449 section 4.3: without query and fragment, and normalized as RFC 3986 says. */
function isSameAddress(htu: unknown, address: string): boolean {
  const [claimed, actual] = [typeof htu === 'string' ? URL.parse(htu) : null, URL.parse(address)];
  if (claimed === null || actual === null) return false;
  for (const url of [claimed, actual]) {
    url.search = '';
    url.hash = '';
  }
  return claimed.href === actual.href;
}
