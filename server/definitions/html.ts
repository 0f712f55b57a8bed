/**
 * HTML that others wrote: making it safe, and making plain text of it. The libraries are loaded when they are first
 * needed: most servers never read HTML, and they take 20 MB.
 */
import { createRequire } from 'node:module';
import type { convert, HtmlToTextOptions } from 'html-to-text';
import type sanitizeHtml from 'sanitize-html';
import { limits } from '../core/limits.ts';

const load = createRequire(import.meta.url);

const tags = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'address', 'section', 'article'],
  ...[
    'header',
    'footer',
    'main',
    'div',
    'span',
    'ul',
    'ol',
    'li',
    'dl',
    'dt',
    'dd',
    'a',
    'b',
    'strong',
    'i',
    'em',
    'u',
  ],
  ...['s', 'del', 'ins', 'small', 'sub', 'sup', 'mark', 'abbr', 'dfn', 'cite', 'q', 'code', 'time', 'bdi'],
  ...['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
];
const attributes: Record<string, string[]> = {
  '*': ['lang', 'dir', 'title'],
  a: ['href'],
  ol: ['start', 'type', 'reversed'],
  li: ['value'],
  col: ['span'],
  th: ['colspan', 'rowspan', 'scope'],
  td: ['colspan', 'rowspan'],
  time: ['datetime'],
};
/** What stays. */
export const elements: ReadonlySet<string> = new Set(tags);
const schemes = ['https', 'http', 'mailto', 'tel'];

/** What is kept is listed; of all else only the words stay, and of what holds no words nothing. */
const options: sanitizeHtml.IOptions = {
  allowedTags: tags,
  allowedAttributes: attributes,
  allowedSchemes: schemes,
  allowProtocolRelative: false,
  nestingLimit: limits.consentNestingDepthMax,
  nonTextTags: [
    ...['script', 'style', 'title', 'textarea', 'option', 'select', 'noscript', 'template', 'iframe', 'object'],
    ...['svg', 'math', 'noembed', 'noframes'],
  ],
};

/** The HTML without what acts, loads, submits or styles; its words stay. Sanitized again it is the same. */
export function sanitized(html: string): string {
  return sanitizer()(html, options);
}

/**
 * What sanitizing removes, as `<script>` and `onclick`, in the order in which it is found; `href` for an address of another
 * scheme. The first limits.consentRemovedMax of them.
 */
export function removedFrom(html: string): string[] {
  const found = new Set<string>();
  const removed = { add: (what: string) => found.size < limits.consentRemovedMax && found.add(cut(what)) };
  if (html.includes('<!--')) removed.add('<!-- -->');
  sanitizer()(html, {
    ...options,
    transformTags: {
      '*': (tagName, attribs) => {
        if (!elements.has(tagName)) removed.add(`<${tagName}>`);
        else for (const name of Object.keys(attribs)) if (!isAllowed(tagName, name)) removed.add(name);
        if (tagName === 'a' && attribs.href !== undefined && !isKept(attribs.href)) removed.add('href');
        return { tagName, attribs };
      },
    },
  });
  return [...found];
}

function cut(name: string): string {
  return name.length <= limits.consentRemovedCharsMax ? name : `${name.slice(0, limits.consentRemovedCharsMax - 1)}…`;
}

function isKept(href: string): boolean {
  const link = `<a href="${href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">`;
  return sanitized(link).includes(' href=');
}

function isAllowed(tagName: string, name: string): boolean {
  return attributes['*']?.includes(name) === true || attributes[tagName]?.includes(name) === true;
}

function sanitizer() {
  return load('sanitize-html') as typeof sanitizeHtml;
}

const textOptions: HtmlToTextOptions = {
  wordwrap: false,
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
  ],
};

/** The words of HTML as plain text. */
export function plainTextOf(html: string): string {
  const library = load('html-to-text') as { convert: typeof convert };
  return `${library.convert(html, textOptions)}\n`;
}
