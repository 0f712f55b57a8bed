/** Secrets of subscriptions: those that sign requests, and that of the authentication to the endpoint. Encrypted in their row. */
import { randomBytes } from 'node:crypto';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { subscriptionProblem } from './problems.ts';
import type { SigningSecret, SubscriptionSecrets, SubscriptionSpec } from './schema.ts';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

/** A secret that signs requests, as Standard Webhooks writes it. */
export function generateSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

const place = (tenant: string, id: string) => ['event_subscription', tenant, id];

export function encryptSecrets(
  encrypter: Pick<Encrypter, 'encrypt'>,
  { tenant, id }: { tenant: string; id: string },
  secrets: SubscriptionSecrets,
): Buffer {
  return encrypter.encrypt(Buffer.from(JSON.stringify(secrets)), place(tenant, id));
}

/** @throws MasterKeyError */
export function decryptSecrets(
  encrypter: Pick<Encrypter, 'decrypt'>,
  row: { tenant: string; id: string; secrets: Buffer },
): SubscriptionSecrets {
  return JSON.parse(encrypter.decrypt(row.secrets, place(row.tenant, row.id)).toString()) as SubscriptionSecrets;
}

/** Those that sign requests now. */
export function liveSecrets({ signing }: SubscriptionSecrets, nowMs: number): SigningSecret[] {
  return signing.filter(({ expiresAt }) => expiresAt === undefined || Date.parse(expiresAt) > nowMs);
}

/**
 * Makes a secret the one that signs requests; the one before signs them too for limits.signingSecretOverlapMs more, and those
 * before that no more.
 */
export function rotated(live: readonly SigningSecret[], secret: string, nowMs: number): SigningSecret[] {
  const [newest] = live;
  if (newest?.secret === secret) return [...live];
  const createdAt = new Date(nowMs).toISOString();
  const expiresAt = new Date(nowMs + limits.signingSecretOverlapMs).toISOString();
  return [{ secret, createdAt }, ...(newest === undefined ? [] : [{ ...newest, expiresAt }])];
}

/** @throws Problem endpoint_secret_unsuitable */
export function checkSigningSecret(secret: string): void {
  const text = secret.slice(PREFIX.length);
  const { length } = Buffer.from(text, 'base64');
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  if (secret.startsWith(PREFIX) && isBase64 && length >= 24 && length <= 64) return;
  throw unsuitable('/secretRef', 'must be whsec_ and the base64 of 24 to 64 bytes');
}

type AuthType = NonNullable<SubscriptionSpec['auth']>['type'];

/** What the secret of each type of authentication is called in a body. */
export const authSecretNames = { bearer: 'token', basic: 'password', oauth2: 'clientSecret' } as const;

/** @throws Problem endpoint_secret_unsuitable */
export function checkAuthSecret(type: Exclude<AuthType, 'none'>, secret: string): void {
  const suitable = type === 'bearer' ? /^[!-~]+$/ : /^[ -~]+$/;
  if (secret.length <= limits.secretValueBytesMax && suitable.test(secret)) return;
  const what = type === 'bearer' ? 'visible ASCII' : 'ASCII without control characters';
  throw unsuitable(
    `/auth/${authSecretNames[type]}`,
    `must be ${what}, at most ${limits.secretValueBytesMax} characters`,
  );
}

function unsuitable(pointer: string, detail: string) {
  return subscriptionProblem('endpoint_secret_unsuitable', {
    detail: `${pointer} ${detail}`,
    errors: [{ pointer, detail }],
  });
}
