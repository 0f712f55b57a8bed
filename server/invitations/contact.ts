/** The contact of an invitation: how its address is known without being stored, and who has proved to have it. */
import type { Caller } from '../core/auth/schema.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { invitationProblem } from './problems.ts';
import { contactOf } from './rules.ts';
import type { InvitationRow } from './schema.ts';

/** What a contact is encrypted for, and digested with. */
export function contactPlace(tenant: string): string[] {
  return ['invitation', tenant, 'contact'];
}

/** @param address in the form in which addresses are compared */
export function contactDigest(encrypter: Pick<Encrypter, 'digest'>, tenant: string, address: string): string {
  return encrypter.digest(Buffer.from(address), contactPlace(tenant));
}

/** The address as addresses are compared, and its digest. @throws Problem invalid_request */
export function contactDigestOf(encrypter: Pick<Encrypter, 'digest'>, tenant: string, said: string, pointer: string) {
  const address = contactOf(said, pointer);
  return { address, digest: contactDigest(encrypter, tenant, address) };
}

/** Whether this is the invited address. @param email the caller's verified one */
export function isContact(
  encrypter: Pick<Encrypter, 'digest'>,
  tenant: string,
  row: Pick<InvitationRow, 'contact_digest'>,
  email: string | undefined,
): boolean {
  return email !== undefined && contactDigest(encrypter, tenant, email) === row.contact_digest;
}

export function emailOf(caller: Caller): string | undefined {
  return caller.kind === 'user' ? caller.email : undefined;
}

/**
 * Lets only the user who has the invited address do something with an invitation that is bound to it.
 * @throws Problem invitation_address_unverified, invitation_contact_mismatch
 */
export function requireContact(
  encrypter: Pick<Encrypter, 'digest'>,
  caller: Caller,
  row: Pick<InvitationRow, 'contact_digest'>,
): void {
  if (isContact(encrypter, caller.tenant, row, emailOf(caller))) return;
  if (caller.kind === 'user' && caller.email !== undefined) throw invitationProblem('invitation_contact_mismatch');
  const detail =
    caller.kind === 'user'
      ? 'The invitation is bound to the address that it was sent to, and the access token has no verified address.'
      : 'The invitation is bound to the address that it was sent to. A back end has no address: the user accepts with its own access token.';
  throw invitationProblem('invitation_address_unverified', { detail });
}
