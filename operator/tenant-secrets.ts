/** Reads the Secrets that a Tenant refers to: by name, in the tenant's secretNamespace, where the source has Secrets. */
import type { TenantSpec } from '../crds/index.ts';
import { limits } from '../server/core/limits.ts';
import type { TenantSecrets } from '../server/tenants/index.ts';
import type { Refusal } from './reasons.ts';
import type { Source, SourceObject } from './source.ts';

/** `secrets` is absent where the source has none: what is stored stays. */
type SecretsRead = { ok: true; secrets?: TenantSecrets } | ({ ok: false } & Refusal);

/** The name in accord.tenant_secret of the mail server's credentials, `{username, password}`. */
const smtpSecret = 'mail.smtp';

const SMTP_KEYS = ['username', 'password'] as const;

export function secretNamespaceOf(tenant: string, spec: TenantSpec): string {
  return spec.secretNamespace ?? tenant;
}

/** Reads what the spec refers to; the source tells when it changes. @throws when the source does not answer */
export async function readTenantSecrets(source: Source, object: SourceObject, spec: TenantSpec): Promise<SecretsRead> {
  const access = source.secrets;
  if (access === undefined) return { ok: true };
  const name = spec.mail?.smtp.secretRef?.name;
  if (name === undefined) return { ok: true, secrets: {} };
  const namespace = secretNamespaceOf(object.name, spec);
  const place = `${namespace}/${name}`;
  let data: Readonly<Record<string, Buffer>> | undefined;
  try {
    data = await access.read(namespace, name, object.key);
  } catch (error) {
    // A refusal is the answer until the source tells of another; no answer is tried again.
    if ((error as { status?: unknown }).status !== 403) throw error;
    return notFound(
      `Reading the Secret ${place} of spec.mail.smtp.secretRef is not allowed: ${(error as Error).message}`,
    );
  }
  if (data === undefined) return notFound(`Secret ${place} of spec.mail.smtp.secretRef not found.`);
  const missing = SMTP_KEYS.filter((key) => !Object.hasOwn(data, key) || data[key]?.length === 0);
  if (missing.length > 0) {
    return notFound(`Secret ${place} has no key ${missing.join(' and no key ')}: spec.mail.smtp.secretRef needs both.`);
  }
  const members: Record<string, string> = {};
  for (const key of SMTP_KEYS) {
    const value = textOf(data[key] as Buffer);
    if (value === undefined) {
      const message = `Key ${key} of Secret ${place} is not UTF-8 text of at most ${limits.secretValueBytesMax} bytes.`;
      return { ok: false, reason: 'Invalid', message, dependsOnOthers: true };
    }
    members[key] = value;
  }
  return { ok: true, secrets: { [smtpSecret]: members } };
}

export function notFound(message: string): { ok: false } & Refusal {
  return { ok: false, reason: 'SecretNotFound', message, dependsOnOthers: true };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function textOf(value: Buffer): string | undefined {
  if (value.length > limits.secretValueBytesMax) return undefined;
  try {
    return utf8.decode(value);
  } catch {
    return undefined;
  }
}
