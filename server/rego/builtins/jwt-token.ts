/** The parts of a token in compact form, and what its header says. */
import type { RegoObject, Value } from '../value.ts';
import { type BuiltinContext, refuse } from './arguments.ts';
import { readJson } from './json-read.ts';
import type { Signed } from './jwt-signature.ts';

type Token = { readonly header: string; readonly payload: string; readonly signature: string };

type TokenHeader = { alg: string; kid: string; cty: string; isUnderstood: boolean };

const CHARS_PER_UNIT = 16;

/** Three parts between periods. */
export function splitToken(context: BuiltinContext, text: string): Token {
  context.charge(text.length / CHARS_PER_UNIT);
  const [header, payload, signature, more] = text.split('.', 4);
  if (header === undefined || payload === undefined || signature === undefined || more !== undefined) return refuse();
  return { header, payload, signature };
}

export function signedPart({ header, payload, signature }: Token): Signed {
  return { text: `${header}.${payload}`, signature: decodePart(signature) };
}

/** Go's base64url, where padding may be missing and line ends do not count. */
export function decodePart(part: string): Buffer {
  const missing = part.endsWith('=') ? 0 : (4 - (part.length % 4)) % 4;
  if (missing === 3) refuse();
  const text = (part + '='.repeat(missing)).replace(/[\r\n]/g, '');
  if (!/^(?:[\w-]{4})*(?:[\w-]{2}==|[\w-]{3}=)?$/.test(text)) refuse();
  return Buffer.from(text, 'base64url');
}

export function decodeText(part: string): string {
  return decodePart(part).toString();
}

export function jsonObject(context: BuiltinContext, text: string): RegoObject {
  const value = readJson(context, text);
  return value instanceof Map ? value : refuse();
}

/** The header's members. An encrypted token's are refused. */
export function decodeHeader(context: BuiltinContext, { header }: Token): RegoObject {
  const members = jsonObject(context, decodeText(header));
  return members.has('enc') ? refuse() : members;
}

const KNOWN = ['alg', 'kid', 'typ', 'cty', 'crit'];

/** Refuses members of a wrong type. `isUnderstood`: it has an algorithm, and nothing critical that is unknown here. */
export function readHeader(members: RegoObject): TokenHeader {
  const text = (name: string): string => stringOr(members.get(name), '');
  text('typ');
  const critical = members.has('crit') ? criticalNames(members.get('crit') as Value) : [];
  const isUnknown = (name: string) => members.has(name) && !KNOWN.includes(name);
  const alg = text('alg');
  return { alg, kid: text('kid'), cty: text('cty'), isUnderstood: alg !== '' && !critical.some(isUnknown) };
}

/** Up to the first item that is no string; there must be one. */
function criticalNames(value: Value): string[] {
  const items = Array.isArray(value) ? value : refuse();
  const end = items.findIndex((item) => typeof item !== 'string');
  const names = (end < 0 ? items : items.slice(0, end)) as string[];
  return names.length > 0 ? names : refuse();
}

function stringOr(value: Value | undefined, absent: string): string {
  if (value === undefined) return absent;
  return typeof value === 'string' ? value : refuse();
}
