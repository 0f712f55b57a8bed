import type { RegoObject } from '../value.ts';
import { type BuiltinTable, objectFrom, refuse, stringOf } from './arguments.ts';

export const uuidBuiltins: BuiltinTable = { 'uuid.parse': (_context, text) => describe(bytesOf(stringOf(text))) };

/** The plain form, the URN, the form in braces (any two characters in OPA), and 32 digits. */
const FORMS = [
  /^(?:urn:uuid:)?([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i,
  /^.([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12}).$/is,
  /^([0-9a-f]{32})$/i,
];
const DOMAINS = ['Person', 'Group', 'Org'];
/** 100 ns steps from the start of the Gregorian calendar, 1582-10-15, to the Unix epoch. */
const GREGORIAN_STEPS = 122_192_928_000_000_000n;

function bytesOf(text: string): Buffer {
  const match = FORMS.map((form) => form.exec(text)).find((found) => found !== null) ?? refuse();
  return Buffer.from(match.slice(1).join(''), 'hex');
}

function describe(bytes: Buffer): RegoObject {
  const version = bytes[6]! >> 4;
  const base = { version, variant: variantOf(bytes[8]!) };
  if (version !== 1 && version !== 2) return objectFrom(base);
  const node = bytes.subarray(10);
  const steps =
    BigInt(bytes.readUInt32BE(0)) |
    (BigInt(bytes.readUInt16BE(4)) << 32n) |
    (BigInt(bytes.readUInt16BE(6) & 0xfff) << 48n);
  const timed = {
    ...base,
    time: BigInt.asIntN(64, (steps - GREGORIAN_STEPS) * 100n), // wraps, as in OPA
    nodeid: Array.from(node, (byte) => byte.toString(16).padStart(2, '0')).join('-'),
    macvariables: `${node[0]! & 2 ? 'local' : 'global'}:${node[0]! & 1 ? 'multicast' : 'unicast'}`,
    clocksequence: bytes.readUInt16BE(8) & 0x3fff,
  };
  if (version === 1) return objectFrom(timed);
  const domain = bytes[9]!;
  return objectFrom({ ...timed, id: bytes.readUInt32BE(0), domain: DOMAINS[domain] ?? `Domain${domain}` });
}

function variantOf(byte: number): string {
  if ((byte & 0xc0) === 0x80) return 'RFC4122';
  if ((byte & 0xe0) === 0xc0) return 'Microsoft';
  return (byte & 0xe0) === 0xe0 ? 'Future' : 'Reserved';
}
