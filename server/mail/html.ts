/** The HTML of tenants' templates: what mail programs show, and nothing that acts or loads unseen; and text made of it. */
import { createRequire } from 'node:module';
import type { convert } from 'html-to-text';
import type sanitizeHtml from 'sanitize-html';
import { withTimeLimit } from './time-limit.ts';

const load = createRequire(import.meta.url);

const colour = [/^#[0-9a-f]{3,8}$/i, /^[a-z]+$/i, /^rgb\([\d\s,]+\)$/];
const length = [/^(?:(?:\d{1,4}(?:\.\d+)?(?:px|em|rem|%)?|auto)(?:\s+|$)){1,4}$/];
const word = [/^[a-z-]+$/i];

const options: sanitizeHtml.IOptions = {
  allowedTags: [
    ...[
      'a',
      'b',
      'blockquote',
      'br',
      'center',
      'code',
      'div',
      'em',
      'h1',
      'h2',
      'h3',
      'h4',
      'hr',
      'i',
      'img',
      'li',
      'ol',
    ],
    ...['p', 'pre', 's', 'small', 'span', 'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr'],
    ...['u', 'ul'],
  ],
  allowedAttributes: {
    a: ['href', 'title'],
    img: ['src', 'alt', 'width', 'height'],
    table: ['role', 'cellpadding', 'cellspacing', 'border'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan', 'scope'],
    '*': ['style', 'align', 'valign', 'width', 'bgcolor', 'lang', 'dir'],
  },
  allowedSchemes: ['https', 'http', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['https'] },
  allowProtocolRelative: false,
  // A mail has no address that a relative one could begin with.
  transformTags: {
    img: (tagName, { src = '', ...attribs }) => ({
      tagName,
      attribs: /^https:/i.test(src) ? { ...attribs, src } : attribs,
    }),
  },
  nestingLimit: 64,
  parseStyleAttributes: true,
  allowedStyles: {
    '*': {
      ...{
        color: colour,
        'background-color': colour,
        'font-size': length,
        'line-height': length,
        'font-weight': [/^(?:[a-z]+|\d{3})$/],
      },
      ...{ 'font-family': [/^[\w\s,'"-]+$/], 'font-style': word, 'text-align': word, 'vertical-align': word },
      ...{ 'text-decoration': word, 'word-break': word, display: [/^(?:block|inline|inline-block|table|table-cell)$/] },
      ...{
        padding: length,
        'padding-top': length,
        'padding-right': length,
        'padding-bottom': length,
        'padding-left': length,
      },
      ...{
        margin: length,
        'margin-top': length,
        'margin-right': length,
        'margin-bottom': length,
        'margin-left': length,
      },
      ...{ width: length, 'max-width': length, height: length, 'border-radius': length, 'border-collapse': word },
      ...{ border: [/^[\w\s#]+$/], 'border-top': [/^[\w\s#]+$/], 'border-bottom': [/^[\w\s#]+$/] },
    },
  },
  nonTextTags: [
    'script',
    'style',
    'title',
    'textarea',
    'option',
    'select',
    'noscript',
    'template',
    'iframe',
    'object',
    'svg',
    'math',
  ],
};

/** To be called with what was rendered: values of variables are sanitized with it. @throws TemplateError where it takes too long */
export function sanitizedMail(html: string): string {
  const sanitize = load('sanitize-html') as typeof sanitizeHtml;
  return withTimeLimit(() => sanitize(html, options));
}

/** The words of a mail's HTML, links written out. @throws TemplateError where it takes too long */
export function textOf(html: string): string {
  const library = load('html-to-text') as { convert: typeof convert };
  const words = () =>
    library.convert(html, {
      wordwrap: 78,
      selectors: [
        // Readers of mail that make links of addresses would take a bracket behind one for a part of it.
        { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: false } },
        { selector: 'img', format: 'skip' },
        ...['h1', 'h2', 'h3', 'h4'].map((selector) => ({ selector, options: { uppercase: false } })),
      ],
    });
  return withTimeLimit(words);
}
