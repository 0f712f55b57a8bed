/**
 * What goes through a proxy (ACCORD_HTTPS_PROXY) and what of it can still be judged. The proxy resolves names and
 * connects, so which addresses they lead to is its business; a name that means something inside a network only is not
 * sent there, and literal addresses are judged as without a proxy.
 */
import { isIP } from 'node:net';
import type { ProxyAgent } from 'undici';
import { isWithin, parseCidrs } from './addresses.ts';

type Tls =
  NonNullable<ConstructorParameters<typeof ProxyAgent>[0] & object> extends { requestTls?: infer T } ? T : never;

/** RFC 6761, RFC 6762, RFC 8375, ICANN's .internal, and what Kubernetes calls a service. */
const INTERNAL = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|svc)\.?$/i;

/** Why a name is not given to a proxy. */
export function refusalOfName(hostname: string): string | undefined {
  if (hostname.replace(/\.$/, '').includes('.') && !INTERNAL.test(hostname)) return undefined;
  return `${hostname} is a name of an internal network and ACCORD_NO_PROXY does not name it`;
}

/**
 * @param url http: or https:, user and password allowed
 * @param except what is reached without it, separated by commas: names (with all below them), addresses, CIDR ranges, *
 * @throws Error when either cannot be read
 */
export function proxyOf({ url: text, except }: { url: string; except: string }) {
  const uri = URL.parse(text);
  if (uri === null || !/^https?:$/.test(uri.protocol))
    throw new Error('ACCORD_HTTPS_PROXY is not an http or https URL');
  const isExcepted = exceptionsOf(except);
  return {
    /** Plain http is for this machine only, and never goes through a proxy. */
    isFor: (url: URL): boolean => url.protocol === 'https:' && !isExcepted(url.hostname.replace(/^\[|\]$/g, '')),
    /** @param servername of the certificate; undefined for a literal address */
    async agent(options: object, tls: object, servername: string | undefined): Promise<ProxyAgent> {
      const { ProxyAgent } = await import('undici');
      return new ProxyAgent({
        ...options,
        uri: uri.href,
        proxyTls: tls as Tls,
        requestTls: { ...tls, ...(servername === undefined ? {} : { servername }) } as Tls,
      });
    },
  };
}

/** @throws Error naming an entry that is neither a name nor a range */
function exceptionsOf(except: string): (hostname: string) => boolean {
  const entries = except
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');
  const isRange = (entry: string) => isIP(entry.split('/', 1)[0] as string) !== 0;
  const ranges = parseCidrs(entries.filter(isRange).join(','));
  const names = entries.filter((entry) => !isRange(entry)).map((entry) => entry.replace(/^\*?\./, ''));
  const wrong = names.find((name) => name !== '*' && !/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name));
  if (wrong !== undefined) throw new Error(`${wrong} in ACCORD_NO_PROXY is neither a name nor a CIDR range`);
  return (hostname) => {
    if (isIP(hostname) !== 0) return isWithin(hostname, ranges) || names.includes('*');
    const name = hostname.toLowerCase().replace(/\.$/, '');
    return names.some((one) => one === '*' || name === one || name.endsWith(`.${one}`));
  };
}
