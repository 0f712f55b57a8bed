/**
 * Links by which a recipient asks for no more mails that are not transactional (RFC 8058): they name the address by its keyed
 * digest, and work for as long as the master key is the same.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Encrypter } from '../core/encrypter.ts';

type Services = { baseUrl: string; encrypter: Pick<Encrypter, 'digest'> };

const proofOf = (encrypter: Pick<Encrypter, 'digest'>, tenant: string, digest: string) =>
  encrypter.digest(Buffer.from(digest), ['mail_message', tenant, 'unsubscribe']);

export function unsubscribeUrl({ baseUrl, encrypter }: Services, tenant: string, digest: string): string {
  return `${baseUrl}/${tenant}/mail/unsubscribe/${digest}.${proofOf(encrypter, tenant, digest)}`;
}

/** The digest of the address that a link names; undefined: nobody of the tenant was sent it. */
export function readUnsubscribe(
  encrypter: Pick<Encrypter, 'digest'>,
  tenant: string,
  token: string,
): string | undefined {
  const [digest = '', proof = ''] = token.split('.', 2);
  const [expected, got] = [Buffer.from(proofOf(encrypter, tenant, digest)), Buffer.from(proof)];
  return expected.length === got.length && timingSafeEqual(expected, got) ? digest : undefined;
}
