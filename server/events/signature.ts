/** Signatures of requests that carry events, as Standard Webhooks says (https://www.standardwebhooks.com). Pure. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const PREFIX = 'whsec_';

/** `id`: the event's; `seconds`: when it is sent, since 1970; `body`: exactly as it is sent. */
type Message = { id: string; seconds: number; body: string };

/**
 * What makes the headers of requests.
 * @param secrets each `whsec_` and base64; during a rotation there are two, and a receiver that knows one of them is content
 * @throws Error for a secret of another form
 */
export function signerOf(secrets: readonly string[]): (message: Message) => Record<string, string> {
  // createHmac makes an object of a key in bytes each time, which takes longer than the digest.
  const keys = secrets.map((secret) => keyOf(secret));
  return ({ id, seconds, body }) => {
    const signatures = keys.map(
      (key) => `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`,
    );
    return {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
    };
  };
}

/** The headers of one request. @param secrets as of signerOf @throws Error for a secret of another form */
export function signedHeaders(message: Message, secrets: readonly string[]): Record<string, string> {
  return signerOf(secrets)(message);
}

function keyOf(secret: string): KeyObject {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  if (secret.startsWith(PREFIX) && key.length >= 24 && key.length <= 64) return createSecretKey(key);
  throw new Error('the secret must be whsec_ and the base64 of 24 to 64 bytes');
}
