/**
 * Somebody who has just proved both its address and its password goes on without typing the password again: the page that says so
 * posts a proof, which is worth something only to the browser that it was shown to.
 */
import type { FastifyRequest } from 'fastify';
import { type Account, type AccountServices, readAccount } from '../accounts/index.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { tenantOf } from '../http/fastify.ts';
import { formUid, isOwnForm, type Posted } from '../pages/index.ts';
import { csrfKey } from './forms.ts';

/** Below the tenant: where a session of the own pages begins by such a proof. */
export const signedUpPath = '/account/verified';

type Proof = { account: Pick<Account, 'id' | 'epoch'>; atMs: number };

/** @param uid of the interaction, or of the cookie of forms, that the proof is for */
const placeOf = (tenant: string, uid: string) => ['signed_up', tenant, uid];

export function signedUpProof(
  encrypter: Encrypter,
  { tenant, uid }: { tenant: string; uid: string },
  { account, atMs }: Proof,
): string {
  const proof: Proof = { account: { id: account.id, epoch: account.epoch }, atMs };
  return encrypter.encrypt(Buffer.from(JSON.stringify(proof)), placeOf(tenant, uid)).toString('base64url');
}

/** @returns undefined for one that is none, for something else, or too old */
export function readSignedUpProof(
  encrypter: Encrypter,
  { tenant, uid, nowMs }: { tenant: string; uid: string; nowMs: number },
  text = '',
): Proof | undefined {
  try {
    const read = encrypter.decrypt(Buffer.from(text, 'base64url'), placeOf(tenant, uid));
    const proof = JSON.parse(read.toString()) as Proof;
    return proof.atMs + limits.portalLogInMs > nowMs ? proof : undefined;
  } catch {
    return undefined;
  }
}

type SignedUpServices = { accounts: AccountServices; encrypter: Encrypter; baseUrl: string };

/** Who has just signed up, of a form at signedUpPath, and when. @returns undefined for any other form, and for an account that changed since */
export async function signedUpOf(
  { accounts, encrypter, baseUrl }: SignedUpServices,
  request: FastifyRequest,
): Promise<{ account: Account; authenticatedAt: number } | undefined> {
  const { snapshot, code: tenant } = tenantOf(request);
  const uid = formUid(request.headers.cookie);
  const { csrf: presented, proof: text } = (request.body ?? {}) as Posted;
  const form = { key: csrfKey(encrypter, snapshot), uid, place: signedUpPath, presented };
  if (uid === undefined || !isOwnForm({ ...form, headers: request.headers, baseUrl })) return undefined;
  const proof = readSignedUpProof(encrypter, { tenant, uid, nowMs: accounts.clock.now() }, text);
  if (proof === undefined) return undefined;
  const account = await readAccount(accounts, tenant, proof.account.id);
  return account?.epoch === proof.account.epoch ? { account, authenticatedAt: proof.atMs } : undefined;
}
