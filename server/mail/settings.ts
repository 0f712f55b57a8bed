/** By which mail server, and in whose name, a tenant's mail is sent. */
import type { Config } from '../core/config.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { readTenantSecret, type TenantRow } from '../tenants/index.ts';
import { type MailSettings, readSettings } from './template-store.ts';

export type SmtpServer = {
  host: string;
  port: number;
  /** TLS from the start; otherwise STARTTLS, which is required. */
  isImplicitTls: boolean;
  auth?: { user: string; pass: string };
  /** The tenant's own: its address is judged as those of other endpoints of tenants. */
  isTenants: boolean;
};
export type Address = { name: string; address: string };
export type Sending = { server: SmtpServer; from: Address; replyTo?: string };

/** Members of a Tenant's spec.mail.smtp.secretRef are stored under this name. */
const SECRET = 'mail.smtp';
const IMPLICIT_TLS_PORT = 465;

type Services = { config: Config; encrypter: Pick<Encrypter, 'decrypt'> };

/** Undefined where neither the tenant nor the installation has a mail server. @throws MasterKeyError */
export async function sendingOf(
  { config, encrypter }: Services,
  tx: Transaction,
  { tenant, spec }: Pick<TenantRow, 'tenant' | 'spec'>,
): Promise<Sending | undefined> {
  if (spec.mail !== undefined) {
    const { from, smtp } = spec.mail;
    const { host, port, secretRef } = smtp;
    const secret = secretRef && (await readTenantSecret(encrypter, tx, tenant, SECRET));
    // With a Secret that was not read nothing is sent: without credentials it would only be refused.
    if (secretRef !== undefined && (secret?.username === undefined || secret.password === undefined)) return undefined;
    const auth = secret && { user: secret.username as string, pass: secret.password as string };
    const server = {
      host,
      port,
      isImplicitTls: port === IMPLICIT_TLS_PORT,
      isTenants: true,
      ...(auth ? { auth } : {}),
    };
    return { server, from: addressOf(from, spec.displayName) };
  }
  const server = installationServer(config);
  if (server === undefined || config.ACCORD_MAIL_FROM === undefined) return undefined;
  const settings = (await readSettings(tx, tenant))?.spec;
  return { server, ...installationSender(config.ACCORD_MAIL_FROM, spec.displayName, settings) };
}

/** The installation's address, because its mail server vouches for that one only, under a name that the tenant chooses. */
function installationSender(from: string, displayName: string, settings: MailSettings | undefined) {
  const { address } = addressOf(from, '');
  const name = settings === undefined ? displayName : addressOf(settings.from, displayName).name;
  // Answers reach the tenant: at the address that it states, where that is not the one that it cannot send from.
  const replyTo = settings && (settings.replyTo ?? addressOf(settings.from, '').address);
  return { from: { name, address }, ...(replyTo === undefined ? {} : { replyTo }) };
}

/** `NAME <ADDRESS>` or `ADDRESS` taken apart. Its shape was checked where it was stored. */
export function addressOf(text: string, name: string): Address {
  const found = /^(?<name>[^<>]+) <(?<address>[^<>]+)>$/.exec(text)?.groups;
  return found === undefined
    ? { name, address: text }
    : { name: found.name as string, address: found.address as string };
}

/** That of the installation. */
export function installationServer({ ACCORD_SMTP_URL: text }: Pick<Config, 'ACCORD_SMTP_URL'>): SmtpServer | undefined {
  if (text === undefined) return undefined;
  const { protocol, hostname, port, username, password } = new URL(text);
  const isImplicitTls = protocol === 'smtps:';
  return {
    ...{ host: hostname.replace(/^\[|\]$/g, ''), isImplicitTls, isTenants: false },
    port: Number(port) || (isImplicitTls ? IMPLICIT_TLS_PORT : 587),
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  };
}
