/**
 * URLs of the database that name several servers, in the ways of libpq: `postgres://u:p@a:5432,b/db`, or `?host=a,b&port=5432,5433`.
 * node-postgres takes one server in a URL, and does not ask it what it is.
 */

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const ATTRIBUTE = 'target_session_attrs';
/** As libpq: `primary` asks whether it is a standby, `read-write` also whether new transactions are read-only. */
export type Wanted = 'any' | 'primary' | 'read-write';

/**
 * A URL for each server, in their order, and what a server has to be. Of several, a standby is never wanted.
 * @throws Error with what is wrong, without the URL
 */
export function urlsOf(url: string): { urls: [string, ...string[]]; wanted: Wanted } {
  const [, begin = '', authority = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  const attribute = parameters.get(ATTRIBUTE) ?? 'any';
  const inQuery = parameters.get('host');
  const hosts = (inQuery ?? authority).split(',');
  if (!isWanted(attribute)) throw new Error(`${ATTRIBUTE} must be any, primary or read-write, not ${attribute}`);
  if (hosts.length === 1 && attribute === 'any') return { urls: [url], wanted: 'any' };
  if (hosts.length > 1 && hosts.some((host) => host === '' || /\s/.test(host)))
    throw new Error('each of the hosts, which commas separate, must have a name without spaces');
  const ports = parameters.get('port')?.split(',') ?? [];
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new Error(`there must be one port, or one for each of the ${hosts.length} hosts`);
  parameters.delete(ATTRIBUTE);
  const urls = hosts.map((host, index) => {
    const own = new URLSearchParams(parameters);
    if (inQuery !== null) own.set('host', host);
    if (ports.length > 1) own.set('port', ports[index] as string);
    return `${begin}${inQuery === null ? host : ''}${path}${own.size > 0 ? `?${own}` : ''}`;
  });
  return { urls: urls as [string, ...string[]], wanted: attribute === 'any' ? 'primary' : attribute };
}

function isWanted(attribute: string): attribute is Wanted {
  return ['any', 'primary', 'read-write'].includes(attribute);
}
