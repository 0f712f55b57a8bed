/**
 * The link of a built-in mail, which may carry a secret: who has it resets a password or becomes a member. Templates of tenants never see
 * it. They write a placeholder, and the link is put where a mail program can only open it as it is: as a whole `href`, or
 * standing by itself in a text. An image's address, or the parameter of another address, would send it elsewhere. Pure.
 */
import { randomUUID } from 'node:crypto';
import { escapeHtml } from '../core/escape-html.ts';
import type { Part } from './liquid.ts';
import { TemplateError } from './template-error.ts';

export type ActionLink = { placeholder: string; url: string };

export const actionLink = (url: string): ActionLink => ({ placeholder: `https://link.invalid/${randomUUID()}`, url });

/** Tags between which a text goes on: a mail program may make one address of both sides. */
const INLINE = /^<\/?(?:a|b|code|em|i|img|s|small|span|strong|sub|sup|u)\b/i;
/** A style that makes any tag one of those. */
const INLINE_STYLE = /^<([a-z0-9]+)\b[^>]*\sstyle="[^"]*\bdisplay:\s*(?:inline|table-cell)/i;
const OF_TABLE = new Set(['tbody', 'td', 'tfoot', 'th', 'thead', 'tr']);
/** What an address cannot contain. Other spaces than these may be taken as a part of one. */
const ENDS_ADDRESS = /(?:[\t\r\n "<]|&lt;|&quot;)$/;
const LONGEST_END = 6;

/**
 * What was rendered with the placeholder, with the link. HTML has to be sanitized.
 * @throws TemplateError where the placeholder stands elsewhere
 */
export function withLink(part: Part, rendered: string, link: ActionLink): string {
  const url = part === 'html' ? escapeHtml(link.url) : link.url;
  const pieces = part === 'html' ? rendered.split(/(<[^>]*>)/) : [rendered];
  let before = ' ';
  const isInline = inlineTags();
  const filled = pieces.map((piece) => {
    if (part === 'html' && piece.startsWith('<')) {
      if (!isInline(piece)) before = ' ';
      return piece.replace(`href="${link.placeholder}"`, () => `href="${url}"`);
    }
    const [first = '', ...rest] = piece.split(link.placeholder);
    let text = first;
    for (const one of rest) {
      text += ENDS_ADDRESS.test((before + text).slice(-LONGEST_END)) ? url : link.placeholder;
      text += one;
    }
    before = (before + text).slice(-LONGEST_END);
    return text;
  });
  const whole = filled.join('');
  refusePlaceholder(whole, link);
  return whole;
}

/** Tells of one tag after the other whether a text goes on behind it. An end tag does not say the style of what it ends. */
function inlineTags(): (tag: string) => boolean {
  const styled = new Set<string>();
  return (tag) => {
    const name = INLINE_STYLE.exec(tag)?.[1]?.toLowerCase();
    if (name !== undefined) styled.add(name);
    if (name !== undefined || INLINE.test(tag)) return true;
    const [, end = '', other = ''] = /^<(\/?)([a-z0-9]+)/i.exec(tag.toLowerCase()) ?? [];
    return (end !== '' && styled.has(other)) || (styled.has('table') && OF_TABLE.has(other));
  };
}

/** @throws TemplateError where the text has the placeholder, or what a filter has left of it */
export function refusePlaceholder(text: string, { placeholder }: ActionLink): void {
  const id = placeholder.slice(-LAST_OF_ID);
  if (text.toLowerCase().includes(id))
    throw new TemplateError(
      'actionUrl must be the whole href of a link, or stand by itself in a text, with a space or a new line before it',
    );
}
const LAST_OF_ID = 12;
