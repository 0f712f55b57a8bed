/** uri.parse and uri.is_valid: Go's net/url grammar, which is laxer than RFC 3986 and other than WHATWG's. */
import type { RegoObject } from '../value.ts';
import { attempt, type BuiltinContext, type BuiltinTable, refuse, stringOf } from './arguments.ts';
import { decodePercent } from './encoding.ts';

export const uriBuiltins: BuiltinTable = {
  'uri.parse': (context, text) => parseUri(context, stringOf(text)),
  'uri.is_valid': (context, text) => {
    return typeof text === 'string' && text !== '' && attempt(() => parseUri(context, text)) !== undefined;
  },
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const CONTROL = /[\x00-\x1f\x7f]/;
/** What Go leaves as it is in a path, where encodeURI does not; what encodeURI escapes, Go escapes too. */
const PATH_ESCAPE = /[!'()*?#]/g;
const HOST = /^[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]*$/u;

/** The parts that are there, by OPA's names. Refuses what is not a URI reference. */
function parseUri(context: BuiltinContext, text: string): RegoObject {
  if (CONTROL.test(text)) refuse();
  const parts: RegoObject = new Map();
  const put = (name: string, value: string) => value !== '' && parts.set(name, value);
  const [beforeFragment, fragment] = cut(text, '#');
  const { scheme, rest } = schemeOf(beforeFragment);
  put('scheme', scheme.toLowerCase());
  const [hierarchy, query] = cut(rest, '?');
  const opaque = scheme !== '' && !hierarchy.startsWith('/');
  if (!opaque) {
    const hasAuthority = hierarchy.startsWith('//') && (scheme !== '' || !hierarchy.startsWith('///'));
    if (!hasAuthority && scheme === '' && hierarchy.split('/', 1)[0]!.includes(':')) refuse();
    const slash = hasAuthority ? hierarchy.indexOf('/', 2) : 0;
    const end = slash < 0 ? hierarchy.length : slash;
    if (hasAuthority) for (const [name, value] of authority(context, hierarchy.slice(2, end))) put(name, value);
    putPath(context, put, hierarchy.slice(end));
  }
  put('raw_query', query);
  put('fragment', decodePercent(context, fragment));
  return parts;
}

function putPath(context: BuiltinContext, put: (name: string, value: string) => void, raw: string): void {
  const path = decodePercent(context, raw);
  put('path', path);
  put('raw_path', path === '' || raw === encodePath(path) ? path : raw);
}

function encodePath(path: string): string {
  return encodeURI(path.toWellFormed()).replace(
    PATH_ESCAPE,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function schemeOf(text: string): { scheme: string; rest: string } {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
  if (match !== null) return { scheme: match[1]!, rest: text.slice(match[0].length) };
  return text.startsWith(':') ? refuse() : { scheme: '', rest: text };
}

function authority(context: BuiltinContext, text: string): [string, string][] {
  const at = text.lastIndexOf('@');
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(text.slice(0, at))) refuse();
  if (at >= 0) decodePercent(context, text.slice(0, at));
  const host = text.slice(at + 1);
  if (!HOST.test(host)) refuse();
  if (host.startsWith('[')) {
    const [, address, port] = /^\[([^\]]*)\](?::(\d*))?$/.exec(host) ?? refuse();
    return [
      ['hostname', decodePercent(context, address!)],
      ['port', port ?? ''],
    ];
  }
  if (/%(?:[0-7][0-9a-fA-F]|[0-9a-fA-F]?$)/.test(host)) refuse(); // only non-ASCII bytes may be escaped in a host
  const colon = host.lastIndexOf(':');
  const name = colon < 0 ? host : host.slice(0, colon);
  const port = colon < 0 ? '' : host.slice(colon + 1);
  if (/[:[]/.test(name) || /\D/.test(port)) refuse();
  return [
    ['hostname', decodePercent(context, name)],
    ['port', port],
  ];
}
