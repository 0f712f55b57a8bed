/**
 * The keys of io.jwt.*: what a policy gives as text, a PEM certificate, a PEM public key, a JWK or a set of them.
 * Nothing is ever fetched.
 */
import { createPublicKey, createSecretKey, type KeyObject, X509Certificate } from 'node:crypto';
import { limits } from '../../core/limits.ts';
import type { RegoObject, Value } from '../value.ts';
import { type BuiltinContext, refuse } from './arguments.ts';
import { readJson } from './json-read.ts';

/** `key` is absent for one that is outside the bounds: it verifies nothing. `exact`: whether the text had a public key itself. */
export type VerificationKey = {
  readonly key: KeyObject | undefined;
  readonly exact: boolean;
  readonly alg: string;
  readonly kid: string;
};

const ALGORITHMS: ReadonlySet<string> = new Set([
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'],
  ...['HS256', 'HS384', 'HS512', 'EdDSA'],
]);

/** Reading one key takes 10 to 80 us. */
const KEY_FUEL = 1500;
const CHARS_PER_UNIT = 16;

/** The keys in a text. Refuses what has none, and a set with a key that cannot be read. */
export function readKeys(context: BuiltinContext, text: string): VerificationKey[] {
  context.charge(text.length / CHARS_PER_UNIT);
  const pem = PEM.exec(text);
  if (pem === null) return readJwks(context, readJson(context, text));
  if (pem.index + pem[0].length < text.length) refuse();
  context.charge(KEY_FUEL);
  return [{ key: bounded(readPem(pem[0], pem[1] as string)), exact: true, alg: '', kid: '' }];
}

/** One block, with whatever stands before it; Go takes what stands behind it for the rest. */
const PEM = /(?<=^|\n)-----BEGIN ([^\n-]+)-----[ \t]*\r?\n[^-]*?-----END \1-----[ \t]*(?:\r?\n|$)/;

function readPem(block: string, label: string): KeyObject {
  return orRefuse(() => {
    if (label === 'CERTIFICATE') return new X509Certificate(block).publicKey;
    return label === 'PUBLIC KEY' ? createPublicKey(block) : refuse();
  });
}

function readJwks(context: BuiltinContext, value: Value): VerificationKey[] {
  const object = value instanceof Map ? value : refuse();
  const list = object.get('keys');
  const members = list === undefined ? [object] : Array.isArray(list) ? list : refuse();
  const keys = members.map((jwk) => readJwk(context, jwk instanceof Map ? jwk : refuse()));
  return keys.filter(({ alg }) => alg === '' || ALGORITHMS.has(alg));
}

function readJwk(context: BuiltinContext, jwk: RegoObject): VerificationKey {
  context.charge(KEY_FUEL);
  const text = (name: string): string => {
    const member = jwk.get(name);
    return member === undefined ? '' : typeof member === 'string' ? member : refuse();
  };
  const [alg, kid, kty] = [text('alg'), text('kid'), text('kty')];
  if (kty === 'oct') {
    const secret = Buffer.from(text('k'), 'base64url');
    return { key: orRefuse(() => createSecretKey(secret)), exact: true, alg, kid };
  }
  const names = ['crv', 'x', 'y', 'n', 'e'].filter((name) => jwk.has(name));
  const members = Object.fromEntries([['kty', kty], ...names.map((name) => [name, text(name)])]);
  if (tooLong(members)) return { key: undefined, exact: true, alg, kid };
  const key = orRefuse(() => createPublicKey({ key: members, format: 'jwk' }));
  return { key: bounded(key), exact: !jwk.has('d'), alg, kid };
}

/** Longer ones are not even read. */
function tooLong({ n = '', e = '' }: { n?: string; e?: string }): boolean {
  return n.length > limits.rsaModulusBitsMax / 6 + 8 || e.length > 8;
}

/** Unless an RSA key is outside the bounds: the time of a verification grows with both numbers. */
function bounded(key: KeyObject): KeyObject | undefined {
  if (key.asymmetricKeyType !== 'rsa') return key;
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  const fits = modulusLength >= limits.rsaModulusBitsMin && modulusLength <= limits.rsaModulusBitsMax;
  return fits && publicExponent > 1n && publicExponent < 2n ** 32n ? key : undefined;
}

/** OpenSSL's errors are about the text that was given. */
function orRefuse(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch {
    return refuse();
  }
}
