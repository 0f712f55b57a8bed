/** The patterns of regex.template_match: text with regular expressions between delimiters. */
import { RE2JS } from 're2js';
import { refuse } from './arguments.ts';

/** The regular expression that a template stands for. Delimiters are one character each and may nest. */
export function templatePattern(template: string, open: string, close: string): string {
  if (open.length !== 1 || close.length !== 1) refuse();
  let pattern = '^';
  let depth = 0;
  let from = 0;
  for (let at = 0; at < template.length; at++) {
    const char = template[at];
    if (char === open && ++depth === 1) {
      pattern += RE2JS.quote(template.slice(from, at));
      from = at + 1;
    } else if (char === close && open !== close && --depth <= 0) {
      if (depth < 0) refuse();
      pattern += `(${template.slice(from, at)})`;
      from = at + 1;
    }
  }
  if (depth !== 0) refuse();
  return `${pattern}${RE2JS.quote(template.slice(from))}$`;
}
