/**
 * Checkpoints: what a seal says of the chain, as a compact JWS (RFC 7515) of a type and a key of its own. Whoever keeps
 * one can tell later whether anything up to its last entry was changed, whatever was written to the database since.
 */
import { CompactSign, compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { limits } from '../core/limits.ts';
import type { SigningKey } from '../keys/index.ts';

const TYPE = 'accord-checkpoint';

const Checkpoint = Type.Object({
  tenant: Type.String(),
  first: Type.Integer({ minimum: 1, description: 'Sequence number of the first sealed entry.' }),
  last: Type.Integer({ minimum: 1, description: 'Sequence number of the last sealed entry.' }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: "The chain's SHA-256 at the last entry." }),
  time: Type.String({ description: 'When it was sealed.' }),
});
export type Checkpoint = Static<typeof Checkpoint>;

export function signCheckpoint(key: SigningKey, checkpoint: Checkpoint): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(checkpoint)))
    .setProtectedHeader({ alg: 'ES256', typ: TYPE, kid: key.kid })
    .sign(key.privateKey);
}

/**
 * What a checkpoint says, when a key of the tenant signed it.
 * @param keyOf the tenant's checkpoint key of a kid
 * @returns undefined when it is no checkpoint of the tenant
 */
export async function openCheckpoint(
  signed: string,
  tenant: string,
  keyOf: (kid: string) => Promise<JWK | undefined>,
): Promise<Checkpoint | undefined> {
  if (signed.length > limits.ledgerCheckpointCharsMax) return undefined;
  try {
    const { alg, typ, kid } = decodeProtectedHeader(signed);
    if (alg !== 'ES256' || typ !== TYPE || kid === undefined || !/^[\w-]{1,128}$/.test(kid)) return undefined;
    const jwk = await keyOf(kid);
    if (jwk === undefined) return undefined;
    const { payload } = await compactVerify(signed, await importJWK(jwk, 'ES256'), { algorithms: ['ES256'] });
    const said: unknown = JSON.parse(Buffer.from(payload).toString());
    return Check(Checkpoint, said) && said.tenant === tenant ? said : undefined;
  } catch (error) {
    if (isOfTheToken(error)) return undefined;
    throw error;
  }
}

/** jose's errors and those of decoding; a database that does not answer is none of the token's faults. */
function isOfTheToken(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof TypeError || error instanceof SyntaxError || String(code).startsWith('ERR_J');
}
