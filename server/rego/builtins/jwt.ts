/**
 * io.jwt.decode, io.jwt.decode_verify and io.jwt.verify_*. A token or key that cannot be read makes the call
 * undefined; a signature that does not hold makes it false.
 */
import { numberOf } from '../compare.ts';
import { NumberText, type RegoObject, type Value } from '../value.ts';
import { type Builtin, type BuiltinContext, type BuiltinTable, objectOf, refuse, stringOf } from './arguments.ts';
import { type Constraints, readConstraints } from './jwt-constraints.ts';
import { readKeys, type VerificationKey } from './jwt-keys.ts';
import { isMac, isSigned, type Signed } from './jwt-signature.ts';
import { decodeHeader, decodePart, decodeText, jsonObject, readHeader, signedPart, splitToken } from './jwt-token.ts';

const asymmetric = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const symmetric = ['HS256', 'HS384', 'HS512'];

export const jwtBuiltins: BuiltinTable = {
  'io.jwt.decode': (context, token) => decode(context, stringOf(token)),
  'io.jwt.decode_verify': (context, token, constraints) =>
    decodeVerify(context, stringOf(token), readConstraints(context, objectOf(constraints))) ?? [
      false,
      new Map(),
      new Map(),
    ],
  ...Object.fromEntries(asymmetric.map((name) => [`io.jwt.verify_${name.toLowerCase()}`, verifier(name)])),
  ...Object.fromEntries(symmetric.map((name) => [`io.jwt.verify_${name.toLowerCase()}`, macVerifier(name)])),
};

/** Header, payload and signature (hexadecimal) of a token, or of the one in its payload. */
function decode(context: BuiltinContext, text: string): Value {
  for (let inner = text; ; ) {
    const token = splitToken(context, inner);
    const header = decodeHeader(context, token);
    const payload = decodeText(token.payload);
    if (header.get('cty') !== 'JWT') {
      if (header.has('cty')) stringOf(header.get('cty'));
      return [header, jsonObject(context, payload), decodePart(token.signature).toString('hex')];
    }
    inner = unquoted(payload);
  }
}

/** Without the quotes around it. A regular expression for both ends takes the square of the quotes inside. */
function unquoted(text: string): string {
  const isQuote = (at: number) => text[at] === '"' || text[at] === "'";
  let [from, to] = [0, text.length];
  while (from < to && isQuote(from)) from++;
  while (to > from && isQuote(to - 1)) to--;
  return text.slice(from, to);
}

function verifier(algorithm: string): Builtin {
  return (context, text, given) => {
    const token = splitToken(context, stringOf(text));
    const keys = readKeys(context, stringOf(given));
    const signed = signedPart(token);
    const { kid, alg } = readHeader(decodeHeader(context, token));
    const holds = ({ key, exact }: VerificationKey) => exact && isSigned(context, algorithm, key, signed);
    return byAnyKey(keys, kid, alg, holds);
  };
}

function macVerifier(algorithm: string): Builtin {
  return (context, text, secret) => {
    const token = splitToken(context, stringOf(text));
    return isMac(context, `sha${algorithm.slice(2)}`, stringOf(secret), signedPart(token));
  };
}

/** The key that the token names alone; without one, any whose algorithm is the token's or is not stated. */
function byAnyKey(
  keys: readonly VerificationKey[],
  kid: string,
  alg: string,
  holds: (key: VerificationKey) => boolean,
): boolean {
  const named = kid === '' ? undefined : keys.find((key) => key.kid === kid);
  if (named !== undefined) return holds(named);
  return keys.some((key) => (key.alg === '' || key.alg === alg) && holds(key));
}

/** True, header and payload of the innermost token; undefined when a signature or a constraint does not hold. */
function decodeVerify(context: BuiltinContext, text: string, constraints: Constraints): Value | undefined {
  for (let inner = text; ; ) {
    const token = splitToken(context, inner);
    const members = decodeHeader(context, token);
    const header = readHeader(members);
    if (!header.isUnderstood) return undefined;
    if (constraints.alg !== '' && constraints.alg !== header.alg) return undefined;
    if (!isTrusted(context, constraints, header, signedPart(token))) return undefined;
    const payload = decodeText(token.payload);
    if (header.cty.toUpperCase() === 'JWT') inner = payload;
    else {
      const claims = jsonObject(context, payload);
      return hasClaims(context, constraints, claims) ? [true, members, claims] : undefined;
    }
  }
}

function isTrusted(
  context: BuiltinContext,
  { keys, secret }: Constraints,
  { kid, alg }: { kid: string; alg: string },
  signed: Signed,
): boolean {
  if (keys === undefined) {
    return symmetric.includes(alg) && isMac(context, `sha${alg.slice(2)}`, secret, signed);
  }
  const isKnown = asymmetric.includes(alg) || symmetric.includes(alg);
  return byAnyKey(keys, kid, alg, ({ key }) => isKnown && isSigned(context, alg, key, signed));
}

/** Issuer, audience (also one that nobody asked for), expiry and start, as the constraints have them. */
function hasClaims(context: BuiltinContext, { iss, aud, time }: Constraints, claims: RegoObject): boolean {
  if (iss !== '' && claims.get('iss') !== iss) return false;
  const audience = claims.get('aud');
  if (audience === undefined ? aud !== '' : !isFor(audience, aud)) return false;
  const seconds = time / 1e9;
  if (claims.has('exp') && seconds >= secondsOf(context, claims.get('exp'))) return false;
  return !claims.has('nbf') || seconds >= secondsOf(context, claims.get('nbf'));
}

function isFor(audience: Value, aud: string): boolean {
  return Array.isArray(audience) ? audience.includes(aud) : audience === aud;
}

function secondsOf(context: BuiltinContext, value: Value | undefined): number {
  if (value instanceof NumberText) return numberOf(context, value);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : refuse();
}
