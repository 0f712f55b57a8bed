import type { Meter } from '../budget.ts';
import type { Value } from '../value.ts';
import { type BuiltinTable, integerOf, refuse, stringOf, stringsOf } from './arguments.ts';
import { renderTemplate } from './render-template.ts';
import { occurrences } from './search.ts';

export const stringBuiltins: BuiltinTable = {
  'strings.any_prefix_match': (context, search, base) => {
    const [texts, prefixes] = [oneOrMore(search), oneOrMore(base)];
    chargeSearch(context, texts, prefixes);
    return anyStartsWith(texts, prefixes);
  },
  'strings.any_suffix_match': (context, search, base) => {
    const [texts, suffixes] = [oneOrMore(search), oneOrMore(base)];
    chargeSearch(context, texts, suffixes);
    return anyStartsWith(texts.map(reversed), suffixes.map(reversed));
  },
  'strings.count': (context, text, part) => {
    const [searched, wanted] = [stringOf(text), stringOf(part)];
    context.charge(searched.length / 2);
    return wanted === ''
      ? Array.from(searched).length + 1
      : occurrences(searched, wanted, { overlapping: false }).length;
  },
  'strings.split_n': (context, text, delimiter, count) => {
    const [whole, separator, wanted] = [stringOf(text), stringOf(delimiter), integerOf(count)];
    context.charge(whole.length / 2);
    return wanted >= 0 ? splitUpTo(whole, separator, wanted) : split(whole, separator).slice(wanted);
  },
  'strings.render_template': (context, template, variables) => renderTemplate(context, stringOf(template), variables!),
  indexof_n: (context, text, part) => {
    const [searched, wanted] = [stringOf(text), stringOf(part)];
    if (wanted === '') refuse();
    context.charge(searched.length / 2);
    return toCodePoints(searched, occurrences(searched, wanted, { overlapping: true }));
  },
  'glob.quote_meta': (_context, pattern) => stringOf(pattern).replace(/[?*\\[\]{}]/g, '\\$&'),
};

function oneOrMore(value: Value | undefined): string[] {
  return typeof value === 'string' ? [value] : stringsOf(value);
}

function chargeSearch(meter: Meter, texts: string[], prefixes: string[]): void {
  let chars = 0;
  for (const text of [...texts, ...prefixes]) chars += text.length;
  meter.charge((texts.length + prefixes.length + chars / 32) * (2 + Math.log2(texts.length + 1)));
}

/** Strings that share a prefix are neighbours once sorted, right after where the prefix itself would stand. */
function anyStartsWith(texts: string[], prefixes: string[]): boolean {
  const sorted = texts.length > 1 ? texts.toSorted() : texts;
  return prefixes.some((prefix) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < prefix) low = middle + 1;
      else high = middle;
    }
    return sorted[low]?.startsWith(prefix) ?? false;
  });
}

function reversed(text: string): string {
  return text.split('').reverse().join('');
}

function split(text: string, separator: string): string[] {
  if (separator === '') return Array.from(text);
  return pieces(text, separator, occurrences(text, separator, { overlapping: false }));
}

function splitUpTo(text: string, separator: string, count: number): string[] {
  if (separator === '') return Array.from(text).slice(0, count);
  return pieces(text, separator, occurrences(text, separator, { overlapping: false, max: count })).slice(0, count);
}

function pieces(text: string, separator: string, cuts: number[]): string[] {
  let from = 0;
  const found = cuts.map((cut) => {
    const piece = text.slice(from, cut);
    from = cut + separator.length;
    return piece;
  });
  return [...found, text.slice(from)];
}

/** UTF-16 offsets, ascending, as counts of code points. */
function toCodePoints(text: string, offsets: number[]): number[] {
  let at = 0;
  let points = 0;
  return offsets.map((offset) => {
    for (; at < offset; at++) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) points++;
    return points;
  });
}
