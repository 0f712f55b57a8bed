/** net.cidr_*, on addresses as integers. */
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { distinct, identity } from '../compare.ts';
import { RegoSet, type Value } from '../value.ts';
import { type BuiltinContext, type BuiltinTable, boundResult, itemsOf, refuse, stringOf } from './arguments.ts';

/** The addresses `first` to `last`; `bits` is 32 or 128, `text` how OPA writes it when that is not the usual way. */
type Range = { bits: number; first: bigint; last: bigint; text?: string };

/** Reading or writing an address takes 1-2 us. */
const RANGE_FUEL = 20;
const PAIR_FUEL = 4;

export const netBuiltins: BuiltinTable = {
  'net.cidr_contains_matches': (context, cidrs, others) => {
    const [outer, inner] = [indexed(cidrs), indexed(others)];
    context.charge(outer.length * inner.length + (outer.length + inner.length) * RANGE_FUEL);
    const ranges = inner.map(([text, index]) => ({ range: parseRange(text), index, size: sizeOf(context, index) }));
    const pairs: Value[] = [];
    let chars = 0;
    for (const [text, index] of outer) {
      const range = parseCidr(text) ?? refuse();
      const size = sizeOf(context, index);
      for (const other of ranges) {
        if (!contains(range, other.range ?? refuse())) continue;
        context.charge(PAIR_FUEL);
        chars += size + other.size + 3;
        boundResult(chars);
        pairs.push([index, other.index]);
      }
    }
    return new RegoSet(pairs); // indices are distinct, and so are pairs of them
  },
  'net.cidr_expand': (context, cidr) => {
    const { bits, first, last } = parseCidr(stringOf(cidr)) ?? refuse();
    const count = Number(last - first) + 1;
    boundResult(count * 9);
    context.charge(count * RANGE_FUEL);
    const all: Value[] = [];
    for (let address = first; address <= last; address++) all.push(formatAddress(address, bits));
    return new RegoSet(all);
  },
  'net.cidr_is_valid': (_context, cidr) => typeof cidr === 'string' && parseCidr(cidr) !== undefined,
  'net.cidr_merge': (context, networks) => {
    const texts = itemsOf(networks).map(stringOf);
    context.charge(texts.length * (2 * RANGE_FUEL + Math.log2(texts.length + 1) * 2));
    const ranges = texts.map((text) =>
      parseAddress(text)?.bits === 32 ? classful(text) : (parseCidr(text) ?? refuse()),
    );
    return distinct(context, merge(ranges).flatMap(toCidrs));
  },
};

/** The CIDRs of an operand with what identifies each in the result: itself, its array index, set item or object key. */
function indexed(value: Value | undefined): [text: string, index: Value][] {
  if (typeof value === 'string') return [[value, value]];
  if (value instanceof Map) return Array.from(value, ([key, item]) => [cidrOf(item), key]);
  if (value instanceof RegoSet) return value.items.map((item) => [cidrOf(item), item]);
  return Array.isArray(value) ? value.map((item, i) => [cidrOf(item), i]) : [];
}

/** The characters of an index in the result. */
function sizeOf(context: BuiltinContext, index: Value): number {
  return identity(context, index).length;
}

/** A string, or an array that begins with one. */
function cidrOf(value: Value): string {
  return stringOf(Array.isArray(value) ? value[0] : value);
}

function parseRange(text: string): Range | undefined {
  const address = parseAddress(text);
  return address === undefined ? parseCidr(text) : { bits: address.bits, first: address.value, last: address.value };
}

/** As strict as Go: no leading zeros, no zones. IPv4 inside IPv6 is IPv4. */
function parseAddress(text: string): { bits: number; value: bigint } | undefined {
  const parsed = parseBits(text);
  return parsed?.bits === 128 && parsed.value >> 32n === 0xffffn ? { bits: 32, value: parsed.value & LOW_32 } : parsed;
}

function parseBits(text: string): { bits: number; value: bigint } | undefined {
  if (isIPv4(text)) return { bits: 32, value: integerOf(ipaddr.IPv4.parse(text).toByteArray()) };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return { bits: 128, value: integerOf(ipaddr.IPv6.parse(text).toByteArray()) };
}

const LOW_32 = 0xffffffffn;

/** A prefix counts the bits of the form it is written in; what lies wholly in mapped IPv4 is IPv4. */
function parseCidr(text: string): Range | undefined {
  const [, address, digits] = /^([^/]*)\/(\d{1,8})$/.exec(text) ?? [];
  const parsed = address === undefined ? undefined : parseBits(address);
  if (parsed === undefined || Number(digits) > parsed.bits) return undefined;
  const range = rangeOf(parsed.value, parsed.bits, Number(digits));
  if (range.bits === 32 || range.first >> 32n !== 0xffffn) return range;
  return { bits: 32, first: range.first & LOW_32, last: range.last & LOW_32 };
}

function rangeOf(address: bigint, bits: number, prefix: number): Range {
  const host = (1n << BigInt(bits - prefix)) - 1n;
  return { bits, first: address & ~host, last: address | host };
}

/** A bare IPv4 address means its network of the old classes A, B and C to net.cidr_merge. */
function classful(text: string): Range {
  const { value, bits } = parseAddress(text)!;
  const first = value >> 24n;
  const prefix = first < 128n ? 8 : first < 192n ? 16 : 24;
  return { ...rangeOf(value, bits, prefix), text: `${formatAddress(value, bits)}/${prefix}` };
}

function contains(outer: Range, inner: Range): boolean {
  return outer.bits === inner.bits && outer.first <= inner.first && inner.last <= outer.last;
}

/** Where IPv4 stands inside IPv6: net.cidr_merge takes both as one space. */
const MAPPED = 0xffff_0000_0000n;

function widened(range: Range): Range {
  return range.bits === 128 ? range : { ...range, bits: 128, first: range.first | MAPPED, last: range.last | MAPPED };
}

/** Overlapping and adjacent ranges as one. */
function merge(ranges: Range[]): Range[] {
  const sorted = ranges.map(widened).sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const merged: Range[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last === undefined || range.first > last.last + 1n) merged.push(range);
    else
      merged[merged.length - 1] = {
        bits: 128,
        first: last.first,
        last: range.last > last.last ? range.last : last.last,
      };
  }
  return merged;
}

/** The fewest CIDRs that cover a range of the joint space exactly: at most 256. */
function toCidrs({ first, last, text }: Range): string[] {
  if (text !== undefined) return [text];
  const found: string[] = [];
  for (let at = first; at <= last; ) {
    let host = 0n;
    while (host < 128n && at % (1n << (host + 1n)) === 0n && at + (1n << (host + 1n)) - 1n <= last) host++;
    const mapped = at >> 32n === 0xffffn && host <= 32n;
    found.push(mapped ? `${formatAddress(at & LOW_32, 32)}/${32n - host}` : `${formatAddress(at, 128)}/${128n - host}`);
    at += 1n << host;
  }
  return found;
}

function formatAddress(value: bigint, bits: number): string {
  const bytes = Buffer.from(value.toString(16).padStart(bits / 4, '0'), 'hex');
  return bits === 32 ? bytes.join('.') : new ipaddr.IPv6([...bytes]).toRFC5952String();
}

function integerOf(bytes: number[]): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}
