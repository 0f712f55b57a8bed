/**
 * The tagged template of all pages: every value is escaped, also nested in arrays, unless it is markup that `html` made. A template that
 * would put a value where escaping does not help (an attribute without quotes, a tag, a script) is refused when it is first used.
 */
import { escapeHtml } from '../core/escape-html.ts';

class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
export type Html = Markup;
export type Value = Html | string | number | false | null | undefined | readonly Value[];

const escaped = (value: Value): string => {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(escaped).join('');
  return value == null || value === false ? '' : escapeHtml(String(value));
};

export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  const places = placesOf(strings);
  const parts = values.map((value, i) => {
    if (places[i] === 'tag' && typeof value === 'string') throw new TypeError('html: a string in a tag, not in quotes');
    if (places[i] === 'url') return escaped(linkOf(String(value ?? '')));
    return escaped(value);
  });
  return new Markup(strings.reduce((all, string, i) => all + parts[i - 1] + string));
}

type Place = 'text' | 'tag' | 'url';
const known = new WeakMap<TemplateStringsArray, readonly Place[]>();

function placesOf(strings: TemplateStringsArray): readonly Place[] {
  const places = known.get(strings) ?? strings.slice(0, -1).map((string, i) => placeAfter(string, strings, i));
  known.set(strings, places);
  return places;
}

function placeAfter(string: string, strings: readonly string[], i: number): Place {
  const before = strings.slice(0, i + 1).join('x');
  if (/\s[\w-]+\s*=\s*$/.test(string)) throw new TypeError(`html: an attribute without double quotes: ${string}`);
  if (/<(script|style)\b[^>]*>[^<]*$|<!--(?!.*-->)/is.test(before))
    throw new TypeError('html: a value in a script, style or comment');
  if (/\s(href|src|srcset|action|formaction)="$/i.test(string)) return 'url';
  return /<[a-z][^<>"]*(?:"[^"]*"[^<>"]*)*$/i.test(before) ? 'tag' : 'text';
}

/**
 * The address as a link may have it: of this site (a path, ?query, #fragment), http, https, mailto, or the private-use scheme of a native
 * application, which has a dot (RFC 8252 section 7.1). Any other, such as javascript: and data:, leads nowhere.
 */
export function linkOf(url: string): string {
  return isLink(url) ? url : 'about:invalid';
}

export function isLink(url: string): boolean {
  if ([...url].some((char) => char <= ' ' || char === '\\' || char === '\u007f')) return false; // browsers skip or turn these
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return /^[/?#]/.test(url) && !url.startsWith('//');
  return ['http', 'https', 'mailto'].includes(scheme) || scheme.includes('.');
}
