/** Signatures of webhooks, as Standard Webhooks says (https://www.standardwebhooks.com), by Web Crypto. */
import { AccordError } from './errors.ts';

/** The request is not what the server sent: answer 400 and do nothing. */
export class AccordWebhookError extends AccordError {
  override name = 'AccordWebhookError';
}

export type WebhookRequest = {
  /** Of the request: a Headers, or an object with names in small letters as in Node. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** Exactly as it came, before it is parsed. */
  body: string | Uint8Array;
  /** The signing secret of the subscription, `whsec_…`; during a rotation the older one too. */
  secrets: string | readonly string[];
  /** How old, or how far ahead, a request may be, in seconds. Default 300. */
  toleranceSeconds?: number;
  /** Default: the clock of this machine. */
  now?: Date;
};

/**
 * @returns the id of the delivery (an event that comes twice has the same) and the parsed body
 * @throws AccordWebhookError when no secret signed this request lately; TypeError for secrets of another form
 */
export async function verifyWebhook<Payload = unknown>(
  request: WebhookRequest,
): Promise<{ id: string; payload: Payload }> {
  const { body, toleranceSeconds = 300, now = new Date() } = request;
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('body must be the text or the bytes of the request, not what was parsed of it');
  const keys = [request.secrets].flat().map(keyOf);
  if (keys.length === 0) throw new TypeError('there must be a secret');
  const header = (name: string) => headerOf(request.headers, name);
  const [id, timestamp, signatures] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')];
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now.getTime() / 1000 - seconds) <= toleranceSeconds))
    throw new AccordWebhookError('webhook-timestamp is too old, or too far ahead');
  const given = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
  const signed = bytesOf(`${id}.${timestamp}.`, body);
  let matches = false;
  for (const key of keys) {
    const expected = await signatureOf(key, signed);
    // All are compared, so that the time does not tell which one matched.
    for (const one of given) matches = sameText(one, expected) || matches;
  }
  if (!matches) throw new AccordWebhookError('webhook-signature is not of one of the secrets');
  try {
    return { id, payload: JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as Payload };
  } catch (cause) {
    throw new AccordWebhookError('the signed body is not JSON', { cause });
  }
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new AccordWebhookError(`${name} is missing, or there is more than one`);
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  if (base64 !== undefined && base64.length % 4 === 0) {
    const key = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    if (key.length >= 24 && key.length <= 64) return key;
  }
  throw new TypeError('a secret must be whsec_ and the base64 of 24 to 64 bytes');
}

function bytesOf(head: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const [first, second] = [encoder.encode(head), typeof body === 'string' ? encoder.encode(body) : body];
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

async function signatureOf(key: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign('HMAC', imported, signed))));
}

/** In a time that depends on the lengths only, which are no secret. */
function sameText(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
