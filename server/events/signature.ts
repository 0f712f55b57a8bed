/** Signatures of requests that carry events, as Standard Webhooks says (https://www.standardwebhooks.com). Pure. */
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/**
 * The headers of a request.
 * @param message `id`: the event's; `seconds`: when it is sent, since 1970; `body`: exactly as it is sent
 * @param secrets each `whsec_` and base64; during a rotation there are two, and a receiver that knows one of them is content
 * @throws Error for a secret of another form
 */
export function signedHeaders(
  { id, seconds, body }: { id: string; seconds: number; body: string },
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64');
    return `v1,${signature}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
  };
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  if (secret.startsWith(PREFIX) && key.length >= 24 && key.length <= 64) return key;
  throw new Error('the secret must be whsec_ and the base64 of 24 to 64 bytes');
}
