/** Sending a mail: a row in the caller's transaction, so that there is one exactly when what it tells of has happened. */
import { randomUUID } from 'node:crypto';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import type { Observe } from '../core/observe.ts';
import type { RecordUnit } from '../writes/index.ts';
import { mailLanguageOf, maskOf } from './rules.ts';
import { insertMessage } from './store.ts';
import { render } from './templates.ts';
import { builtIn, isBuiltIn, type MailTemplate, type MailVariables } from './variables.ts';

export type MailServices = { encrypter: Encrypter; observe: Observe };

export type MailMessage<Template extends MailTemplate = MailTemplate> = {
  template: Template;
  /** An address, as it was written or as addresses are compared. */
  to: string;
  /** BCP 47; which template it is written by is decided when it is sent. */
  language?: string | null | undefined;
  variables: MailVariables[Template];
  /** RFC 3339: when its link expires. @default in mailTtlMs */
  expiresAt?: string;
};

/** What of a message is encrypted. */
export type MailContent = { to: string; variables: Readonly<Record<string, unknown>> };

declare module '../core/observe.ts' {
  interface RoomObservations {
    /** A message waits for a transport. Nothing of it or of its recipient is told. */
    mail_kept: { tenant: string; template: string };
  }
}

export const placeOfMail = (tenant: string, id: string) => ['mail_message', tenant, id];

/** By which the messages to an address are found. @param address as addresses are compared */
export function mailRecipientDigest(encrypter: Pick<Encrypter, 'digest'>, tenant: string, address: string): string {
  return encrypter.digest(Buffer.from(address), ['mail_message', tenant, 'recipient']);
}

type SendingUnit = Pick<RecordUnit, 'tx' | 'tenant' | 'now' | 'nowText'>;

/**
 * Sends a mail when the caller's transaction is committed.
 * @returns the id of the message
 * @throws Error when the address or the variables are not what the caller has to have checked
 */
export async function sendMail<Template extends MailTemplate>(
  services: MailServices,
  unit: SendingUnit,
  message: MailMessage<Template>,
): Promise<string> {
  const { template, variables } = message;
  render(template, mailLanguageOf(message.language), variables); // what it lacks is found where it is sent, and not where it is delivered
  return keepMessage(services, unit, message);
}

/** A mail of any template, whose variables were checked. @throws Error when the address is none, or there is too much of it */
export async function keepMessage(
  { encrypter, observe }: MailServices,
  { tx, tenant, now, nowText }: SendingUnit,
  message: Omit<MailMessage, 'template' | 'variables'> & { template: string; variables: MailContent['variables'] },
): Promise<string> {
  const { template, language = null } = message;
  const to = comparableAddress(message.to);
  if (!to.ok) throw new Error(`a mail has no address: ${to.detail}`);
  const content = Buffer.from(JSON.stringify({ to: message.to, variables: message.variables } satisfies MailContent));
  if (content.length > limits.mailVariablesBytesMax) {
    throw new Error(`the variables of a mail have more than ${limits.mailVariablesBytesMax} bytes`);
  }
  const id = randomUUID();
  const sendUntil = utc(now + limits.mailTtlMs);
  const expiresAt = message.expiresAt === undefined ? sendUntil : utc(Date.parse(message.expiresAt));
  await insertMessage(tx, tenant, {
    ...{ id, template, language, created_at: nowText },
    transactional: isBuiltIn(template) && builtIn[template].notTransactional !== true,
    recipient_digest: mailRecipientDigest(encrypter, tenant, to.address),
    recipient_mask: maskOf(message.to),
    content_encrypted: encrypter.encrypt(content, placeOfMail(tenant, id)),
    expires_at: expiresAt < sendUntil ? expiresAt : sendUntil,
    // Who looks at what it is about wants to know what became of it.
    kept_until: expiresAt > sendUntil ? expiresAt : sendUntil,
  });
  observe({ kind: 'mail_kept', tenant, template });
  return id;
}
