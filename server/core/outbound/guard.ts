/** Which URLs and addresses requests may go to: judged before a name is resolved, and at each connection. */
import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Cidr, isAddressAllowed, isThisMachine, isWithin } from './addresses.ts';
import type { Resolve } from './fair-dns-resolver.ts';

/**
 * Why a request could not be sent or was not answered; the message names the URL and is meant for the operator's log and
 * status. `reason`: without the URL.
 */
export class OutboundError extends Error {
  readonly reason: string;
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`${url}: ${reason}`, options);
    this.reason = reason;
  }
}

/** @throws OutboundError */
export function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new OutboundError(text, 'is not a URL');
  if (url.username !== '' || url.password !== '')
    throw new OutboundError(withoutUser(url), 'user information is not allowed');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new OutboundError(text, 'must be https');
  return url;
}

/** Why an address is not connected to. @param own where this process listens */
export function refusal(
  url: URL,
  address: string,
  allow: readonly Cidr[],
  own: readonly { port: number }[],
): string | undefined {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (own.some((listener) => listener.port === port) && isThisMachine(address, ownAddresses())) {
    return `${address}:${port} is this server itself`;
  }
  if (!isAddressAllowed(address, allow))
    return `the address ${address} is not public and ACCORD_OUTBOUND_ALLOW does not name it`;
  if (url.protocol === 'http:' && !isWithin(address, allow))
    return `must be https (http is for addresses that ACCORD_OUTBOUND_ALLOW names, not ${address})`;
  return undefined;
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map((one) => one.address));
}

/** A resolver that gives the connection only addresses that may be reached. */
export function guardedLookup(resolve: Resolve, refusalOf: (address: string) => string | undefined): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const wanted = found.filter((one) => !options.family || one.family === options.family);
        const allowed = wanted.filter((one) => refusalOf(one.address) === undefined);
        const [first] = allowed;
        if (first === undefined) {
          const why = wanted[0] ? refusalOf(wanted[0].address) : `${hostname} has no address`;
          callback(new OutboundError(hostname, why as string), []);
        } else if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

export function resolveName(hostname: string): Promise<LookupAddress[]> {
  return new Promise((done, failed) => {
    lookup(hostname, { all: true, order: 'verbatim' }, (error, found) => (error ? failed(error) : done(found)));
  });
}

/** The address in a URL: a connection to one never asks the resolver. Undefined for a name. */
export function literalOf(url: URL): string | undefined {
  // The URL parser has already turned every other spelling (0x7f.1, 2130706433, 0177.0.0.1) into the usual one.
  const host = hostOf(url);
  return isIP(host) === 0 ? undefined : host;
}

/** Without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function withoutUser(url: URL): string {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare.href;
}
