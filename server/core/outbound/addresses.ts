/** Which network addresses this server may connect to on a tenant's behalf. Pure: names are resolved elsewhere. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * CIDR ranges separated by commas, as in ACCORD_OUTBOUND_ALLOW and ACCORD_TRUST_PROXY; a bare address is a range of one.
 * @throws Error naming the range that cannot be read
 */
export function parseCidrs(list: string): Cidr[] {
  return list
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      const [base = '', length, ...more] = text.split('/');
      const address = isIP(base) ? ipaddr.parse(base) : undefined;
      const most = address?.kind() === 'ipv4' ? 32 : 128;
      const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
      if (address === undefined || !(bits <= most) || more.length > 0) {
        throw new Error(`${text} is not a CIDR range such as 10.1.0.0/16 or fd00::/8`);
      }
      return [address, bits];
    });
}

// Only this half-filled eighth of IPv6 is handed out as global unicast (RFC 4291 section 2.4, IANA): everything outside
// is refused, also what no table of special ranges knows yet, such as the old IPv4-compatible ::127.0.0.1.
const globalUnicast: Cidr = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Whether an address (as a resolver or a URL gives it) may be connected to: a public one, or one that `allow` contains.
 * IPv6 forms that carry an IPv4 address (mapped, NAT64, 6to4, Teredo) are never public; a mapped one is allowed as the
 * IPv4 address that it means.
 */
export function isAddressAllowed(address: string, allow: readonly Cidr[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined) return false;
  if (isWithin(address, allow)) return true;
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || contains(...globalUnicast, parsed);
}

/** Whether an address is in one of the ranges, also as the IPv4 address that it means. */
export function isWithin(address: string, ranges: readonly Cidr[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined) return false;
  const meant = unmapped(parsed);
  return ranges.some(([range, bits]) => contains(range, bits, meant) || contains(range, bits, parsed));
}

/** 127.0.0.0/8, ::1, and the mapped forms. */
export function isLoopback(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && unmapped(parsed).range() === 'loopback';
}

/**
 * Whether the address leads to this machine: loopback, unspecified, or one of its interfaces.
 * @param interfaces the machine's own addresses
 */
export function isThisMachine(address: string, interfaces: readonly string[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined) return false;
  const meant = unmapped(parsed);
  if (meant.range() === 'loopback' || meant.range() === 'unspecified') return true;
  const text = meant.toNormalizedString();
  return interfaces.some((one) => {
    const own = parseAddress(one);
    return own !== undefined && unmapped(own).toNormalizedString() === text;
  });
}

/** What one caller holds of the address space: an IPv4 address, or the /64 that an IPv6 host chooses its addresses from. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address);
  if (parsed === undefined) return address;
  const meant = unmapped(parsed);
  return meant instanceof ipaddr.IPv6 ? `${meant.parts.slice(0, 4).join(':')}::/64` : meant.toString();
}

function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%.*$/, ''); // a zone names an interface, not another address
  // ipaddr.js also reads the old forms 127.1 and 010.0.0.1; what Node does not take for an address is a name to it.
  return isIP(bare) ? ipaddr.parse(bare) : undefined;
}

function unmapped(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function contains(range: ipaddr.IPv4 | ipaddr.IPv6, bits: number, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (range instanceof ipaddr.IPv4 && address instanceof ipaddr.IPv4) return address.match(range, bits);
  if (range instanceof ipaddr.IPv6 && address instanceof ipaddr.IPv6) return address.match(range, bits);
  return false;
}
