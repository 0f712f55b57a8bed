/** Origins of web pages (RFC 6454) as browsers send them: rules for a list of them, each with its own reason. */
import { matching, notMatching, type Rule, rule } from './rule.ts';

const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const host = `(?:${label}(?:\\.${label})*|\\[[0-9a-f:.]+\\])`;
const loopback = '(?:localhost|127(?:\\.[0-9]{1,3}){3}|\\[::1\\])';
const port = '(?::[1-9][0-9]{0,4})?';

const anybodys = '^null$|\\*';
const upperCase = '[A-Z]';
const beyondHost = '^https?://[^/?#]*[/?#]';
const defaultPort = '^https://[^/]*:443$|^http://[^/]*:80$';
const shape = `^(?:https://${host}${port}|http://${loopback}${port})$`;
/** What the other rules refuse is not refused once more for its shape. */
const shapeOrRefused = `${anybodys}|${upperCase}|${beyondHost}|${shape}`;

/** @param at JSON Pointer of the list */
export function originRules(at: string): readonly Rule[] {
  const one = `${at}/*`;
  return [
    rule<string>({
      at: one,
      message: 'must be one origin, not null or a wildcard: pages of anybody have these',
      ...notMatching(anybodys),
    }),
    rule<string>({ at: one, message: 'must be in lower case, as browsers send it', ...notMatching(upperCase) }),
    rule<string>({
      at: one,
      message: 'must end with the host or the port: an origin has no path, trailing slash, query or fragment',
      ...notMatching(beyondHost),
    }),
    rule<string>({
      at: one,
      message: 'must not have the default port, which browsers leave out',
      ...notMatching(defaultPort),
    }),
    rule<string>({
      at: one,
      message: 'must be https:// and a host, or http:// and a loopback host, with :PORT if it is not the default',
      ...matching(shapeOrRefused),
    }),
  ];
}
