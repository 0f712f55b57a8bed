/**
 * The mail of an invitation, and what its link proves. Who has only the requestToken (from a response, say) may not have the mailbox:
 * the link of the mail has a proof besides, so that whoever comes from it needs no other one of the address.
 */
import { timingSafeEqual } from 'node:crypto';
import { readAccount } from '../accounts/index.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { readMailOutcomes, sendMail } from '../mail/index.ts';
import { attributesOfEntity, type Entity } from '../relationships/index.ts';
import { readTenant } from '../tenants/index.ts';
import { shownNamesOf, type Types } from '../types/index.ts';
import type { AuditedUnit } from '../writes/index.ts';
import type { InvitationServices } from './authorization.ts';
import { contactPlace } from './contact.ts';
import { invitationProblem } from './problems.ts';
import { typeKeyIn } from './rules.ts';
import type { InvitationRow } from './schema.ts';
import { listDeliveries } from './store.ts';

/** Below {base}. */
export const invitationPath = (tenant: string): string => `/${tenant}/invitation`;

/** Of a person only what the tenant stored to be shown: ids may be addresses or account names. */
export async function shownName(
  services: Pick<InvitationServices, 'database'>,
  tenant: string,
  person: Entity,
): Promise<string | undefined> {
  const attributes = await attributesOfEntity(services, tenant, 'actor', person);
  return [attributes?.displayName, attributes?.name].find((one) => typeof one === 'string');
}

/** The same, or else the name that the person gave its own account. Mails do not have that: they go to strangers, in the tenant's name. */
export async function nameOfInvitor(
  services: Pick<InvitationServices, 'database'>,
  tenant: string,
  person: Entity,
): Promise<string | undefined> {
  const name = await shownName(services, tenant, person);
  if (name !== undefined) return name;
  const row = await services.database.read(tenant, (tx) => readTenant(tx, tenant));
  if (row?.spec.tokenMapping.defaultActorType !== person.type) return undefined;
  return (await readAccount(services, tenant, person.id))?.displayName;
}

function proofOf(encrypter: Pick<Encrypter, 'digest'>, tenant: string, row: Pick<InvitationRow, 'id' | 'token_id'>) {
  return encrypter.digest(Buffer.from(`${row.id} ${row.token_id}`), ['invitation', tenant, 'mailed']);
}

/** What stands in the fragment of a link: the requestToken, and in a mail the proof behind it. */
export type Code = { requestToken: string; proof?: string };

/** @throws Problem invitation_token_invalid */
export function readCode(code: string): Code {
  const parts = code.trim().split('.');
  const [proof, more] = parts.slice(3);
  if (code.length > limits.tokenBytesMax || more !== undefined) throw invitationProblem('invitation_token_invalid');
  return { requestToken: parts.slice(0, 3).join('.'), ...(proof === undefined ? {} : { proof }) };
}

/** `invitor`: its name, if the tenant has stored one. */
export type Mailing = { invitor: string | undefined; types: Types };

/**
 * Mails the newest token of an invitation to its contact.
 * @returns the id of the mail
 */
export async function mailInvitation(
  services: InvitationServices,
  unit: AuditedUnit,
  row: InvitationRow,
  { requestToken, invitor, types }: Mailing & { requestToken: string },
): Promise<string> {
  const { tenant, tx } = unit;
  const { encrypter, baseUrl } = services;
  const to = contactIn(encrypter, tenant, row);
  if (to === undefined) throw new Error(`the invitation ${row.id} has no address to be mailed to`);
  const url = `${baseUrl}${invitationPath(tenant)}#${requestToken}.${proofOf(encrypter, tenant, row)}`;
  const application = (await readTenant(tx, tenant))?.spec.displayName ?? tenant;
  // It stands in the subject.
  const name = invitor
    ?.replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, limits.accountNameCharsMax);
  const expiresAt = row.expires_at;
  const shared = {
    relationship: shownNamesOf(types, typeKeyIn(row)),
    type: shownNamesOf(types, row.target_type),
  };
  return sendMail(services, unit, {
    ...{ template: 'relationship-invitation', to, language: row.language, expiresAt },
    variables: { application, actionUrl: url, expiresAt, ...shared, ...(name ? { name } : {}) },
  });
}

function contactIn(encrypter: Encrypter, tenant: string, { id, contact_encrypted }: InvitationRow): string | undefined {
  if (contact_encrypted === null) return undefined;
  return encrypter.decrypt(contact_encrypted, [...contactPlace(tenant), id]).toString();
}

/** The address that whoever has this code has proved to have; undefined: none. */
export function provedContact(
  encrypter: Encrypter,
  tenant: string,
  row: InvitationRow,
  proof: string | undefined,
): string | undefined {
  if (proof === undefined) return undefined;
  const [expected, got] = [Buffer.from(proofOf(encrypter, tenant, row)), Buffer.from(proof)];
  const isMailed = expected.length === got.length && timingSafeEqual(expected, got);
  return isMailed ? contactIn(encrypter, tenant, row) : undefined;
}

/** How the tokens of an invitation travelled, oldest first. A mail is looked at: it may be sent, or have failed, since. */
export async function readDeliveries(tx: Transaction, tenant: string, id: string) {
  const rows = await listDeliveries(tx, tenant, id);
  const mails = await readMailOutcomes(
    tx,
    tenant,
    rows.flatMap(({ message }) => message ?? []),
  );
  return rows.map(({ kind, status, recorded_at: recordedAt, message }) => {
    const mail = message === null ? undefined : mails.get(message);
    if (mail === undefined || mail.status === 'waiting') return { kind, status, recordedAt };
    return { kind, status: mail.status, recordedAt, ...(mail.reason === null ? {} : { reason: mail.reason }) };
  });
}
