/**
 * IP addresses and CIDR ranges of drawn policies, as numbers. An IPv6 address that stands for an IPv4 one
 * (::ffff:192.0.2.1, as dual-stack sockets say) lies in the ranges of both kinds.
 */
import { isIPv4, isIPv6 } from 'node:net';

interface Address {
  bits: 32 | 128;
  value: bigint;
}

interface AddressRange extends Address {
  prefix: number;
}

const mappedIpv4 = 0xffff_0000_0000n;

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function ipv6Value(text: string): bigint {
  const dotted = text.lastIndexOf(':') + 1;
  const tail = text.includes('.') ? ipv4Value(text.slice(dotted)) : undefined;
  const hex =
    tail === undefined
      ? text
      : `${text.slice(0, dotted)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
  const [left = '', right] = hex.split('::');
  const head = left === '' ? [] : left.split(':');
  const end = right === undefined || right === '' ? [] : right.split(':');
  const groups = [...head, ...Array<string>(8 - head.length - end.length).fill('0'), ...end];
  return groups.reduce((value, group) => value * 65536n + BigInt(`0x${group}`), 0n);
}

/** The address that `text` is, undefined when it is none; zone indexes (fe80::1%eth0) are none. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { bits: 32, value: ipv4Value(text) };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return { bits: 128, value: ipv6Value(text) };
}

/** The range that `text` is (address/prefix length), undefined when it is none. */
export function parseRange(text: string): AddressRange | undefined {
  const [, host = '', length] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = parseAddress(host);
  const prefix = Number(length);
  if (!address || prefix > address.bits) return undefined;
  return { ...address, prefix };
}

const network = ({ bits, value }: Address, prefix: number) => value >> BigInt(bits - prefix);

export function rangeContains(range: AddressRange, address: Address): boolean {
  if (range.bits === 128 && address.bits === 32) return false;
  const { bits, value, prefix }: AddressRange =
    range.bits === address.bits ? range : { bits: 128, value: mappedIpv4 | range.value, prefix: 96 + range.prefix };
  return network({ bits, value }, prefix) === network(address, prefix);
}

/** Whether an address inside the network, not the network's own, stands before the slash (10.0.0.1/8). */
export function hasHostBits({ bits, value, prefix }: AddressRange): boolean {
  return network({ bits, value }, prefix) << BigInt(bits - prefix) !== value;
}
