/** Liquid, alone or in HTML, as mail templates have it (docs/mail.md). What is wrong is said by the server. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { StreamLanguage, type StringStream } from '@codemirror/language';
import type { Extension } from '@codemirror/state';

const words = (text: string) => text.split(' ');
const tags = words(
  'assign break capture case comment continue cycle echo else elsif endcapture endcase endcomment endfor endif endraw endunless for if raw unless when',
);
const filters = words(
  'abs append at_least at_most capitalize ceil compact concat date default divided_by downcase escape escape_once first floor join last lstrip map minus modulo newline_to_br plus prepend remove remove_first replace replace_first reverse round rstrip size slice sort sort_natural split strip strip_html strip_newlines sum times truncate truncatewords uniq upcase url_decode url_encode where',
);
const operator = new Set(words('and or not contains in by with limit offset reversed'));
const atom = new Set(words('true false nil null empty blank'));

type State = {
  /** Within {{ or {%; `isFirst`: its name is next, `isFilter`: that of a filter. */
  liquid?: 'output' | 'tag' | undefined;
  isFirst?: boolean;
  isFilter?: boolean;
  /** Within a tag of HTML, and within a value of it. */
  isTag?: boolean;
  quote?: string | undefined;
  /** What ends a comment. */
  until?: 'html' | 'liquid' | undefined;
};

const opening = /^(?:\{\{|\{%)-?/;
const ends = { html: /-->/, liquid: /\{%-?\s*endcomment\b/ };

function inComment(stream: StringStream, state: State, until: 'html' | 'liquid'): string {
  const found = ends[until].exec(stream.string.slice(stream.pos));
  if (found === null) stream.skipToEnd();
  else {
    stream.pos += found.index + (until === 'html' ? found[0].length : 0);
    state.until = undefined;
  }
  return 'comment';
}

function wordInLiquid(stream: StringStream, state: State, word: string): string {
  const { liquid, isFirst, isFilter } = state;
  state.isFirst = state.isFilter = false;
  if (liquid === 'tag' && isFirst) {
    // Its text begins behind the tag.
    if (word === 'comment' && /^\s*-?%\}/.test(stream.string.slice(stream.pos))) state.until = 'liquid';
    return 'keyword';
  }
  if (isFilter) return 'variableName.function';
  if (stream.string.charAt(stream.start - 1) === '.') return 'propertyName';
  if (atom.has(word)) return 'atom';
  return operator.has(word) && liquid === 'tag' ? 'keyword' : 'variableName.special';
}

function inLiquid(stream: StringStream, state: State): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/^-?[%}]\}/)) {
    state.liquid = undefined;
    return 'bracket';
  }
  if (stream.match(/^(?:"[^"]*"?|'[^']*'?)/)) return 'string';
  if (stream.match(/^-?\d+(?:\.\d+)?/)) return 'number';
  const word = stream.match(/^[A-Za-z_][\w-]*/) as RegExpMatchArray | null;
  if (word) return wordInLiquid(stream, state, word[0]);
  state.isFilter = stream.next() === '|';
  return 'operator';
}

function inTag(stream: StringStream, state: State): string | null {
  const { quote } = state;
  if (quote !== undefined) {
    stream.eatWhile((one) => one !== quote && one !== '{');
    // Of a lone brace, or the end of the value.
    const next = stream.match(opening, false) ? undefined : stream.next();
    if (next === quote) state.quote = undefined;
    return 'string';
  }
  if (stream.eatSpace()) return null;
  if (stream.match(/^\/?>/)) {
    state.isTag = false;
    return 'tagName';
  }
  if (stream.match(/^[^\s"'>/={]+/)) return 'attributeName';
  const next = stream.next();
  if (next === '"' || next === "'") {
    state.quote = next;
    return 'string';
  }
  return 'operator';
}

function inText(stream: StringStream, state: State, isHtml: boolean): string | null {
  if (isHtml) {
    if (stream.match('<!--')) {
      state.until = 'html';
      return 'comment';
    }
    if (stream.match(/^<(?:\/?[A-Za-z][\w:-]*|!doctype\b)/i)) {
      state.isTag = true;
      return 'tagName';
    }
    if (stream.match(/^&#?\w+;/)) return 'atom';
  }
  stream.next();
  stream.eatWhile(isHtml ? /[^<&{]/ : /[^{]/);
  return null;
}

const tokenOf = (isHtml: boolean) => (stream: StringStream, state: State) => {
  if (state.liquid) return inLiquid(stream, state);
  if (state.until) return inComment(stream, state, state.until);
  const found = stream.match(opening) as RegExpMatchArray | null;
  if (found) {
    state.liquid = found[0].startsWith('{{') ? 'output' : 'tag';
    state.isFirst = true;
    return 'bracket';
  }
  return state.isTag ? inTag(stream, state) : inText(stream, state, isHtml);
};

const option = (label: string, type: string): Completion => ({ label, type });
const ofTags = tags.map((one) => option(one, 'keyword'));
const ofFilters = filters.map((one) => option(one, 'function'));

/** @param read the variables that the mail has */
const complete =
  (read: () => readonly string[]) =>
  (context: CompletionContext): CompletionResult | null => {
    const before = context.state.sliceDoc(Math.max(0, context.pos - 1000), context.pos);
    const open = Math.max(before.lastIndexOf('{{'), before.lastIndexOf('{%'));
    const inside = before.slice(open + 2);
    if (open < 0 || /[%}]\}/.test(inside)) return null;
    // Within a text.
    if (/^(?:[^"']|"[^"]*"|'[^']*')*["'][^"']*$/.test(inside)) return null;
    const word = /[\w-]*$/.exec(inside)?.[0] ?? '';
    const earlier = inside.slice(0, inside.length - word.length);
    if (earlier.endsWith('.') || (word === '' && !context.explicit)) return null;
    const from = context.pos - word.length;
    const isTag = before.charAt(open + 1) === '%' && /^-?\s*$/.test(earlier);
    if (isTag) return { from, options: ofTags, validFor: /^\w*$/ };
    if (/\|\s*$/.test(earlier)) return { from, options: ofFilters, validFor: /^\w*$/ };
    return { from, options: read().map((one) => option(one, 'variable')), validFor: /^[\w-]*$/ };
  };

export function liquid(read: () => readonly string[], { isHtml = false } = {}): Extension {
  const language = StreamLanguage.define<State>({
    name: isHtml ? 'liquid-html' : 'liquid',
    startState: () => ({}),
    token: tokenOf(isHtml),
    languageData: { closeBrackets: { brackets: ['{', '"'] } },
  });
  return [language, language.data.of({ autocomplete: complete(read) }), autocompletion({ icons: false })];
}
