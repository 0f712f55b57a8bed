/**
 * regex.replace, regex.split, regex.find_n and regex.template_match on RE2JS: RE2's syntax, and time linear in the
 * text for one match. JavaScript's own engine, which a tenant's pattern can make exponential, is never used. Finding
 * all matches can still be quadratic, and a step costs as much as the program is long, so both are charged ahead.
 */

import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { limits } from '../../core/limits.ts';
import { PolicyError } from '../budget.ts';
import { type BuiltinContext, type BuiltinTable, boundResult, integerOf, refuse, stringOf } from './arguments.ts';
import { CLASS_BYTES, patternCost } from './regex-cost.ts';
import { templatePattern } from './regex-template.ts';

export const regexBuiltins: BuiltinTable = {
  'regex.replace': (context, text, pattern, replacement) => {
    const regex = compile(context, stringOf(pattern), stringOf(text));
    return replaceAll(context, regex, stringOf(text), stringOf(replacement));
  },
  'regex.split': (context, pattern, text) =>
    split(context, compile(context, stringOf(pattern), stringOf(text)), stringOf(text)),
  'regex.find_n': (context, pattern, text, count) => {
    const regex = compile(context, stringOf(pattern), stringOf(text));
    const max = integerOf(count);
    return Array.from(matches(context, regex, stringOf(text), max), ({ start, end }) =>
      stringOf(text).slice(start, end),
    );
  },
  'regex.template_match': (context, template, text, open, close) => {
    const whole = stringOf(text);
    const pattern = templatePattern(stringOf(template), stringOf(open), stringOf(close));
    const regex = compile(context, pattern, whole);
    context.charge(whole.length * regex.weight);
    return regex.engine.matcher(whole).find();
  },
};

/**
 * `weight` is fuel per character of text; `bounded` when no match looks further than the program is long; `bytes`
 * bounds the memory it holds, which grows by up to `bytesPerChar` as it reads: the DFA keeps its states.
 */
type Regex = { engine: RE2JS; weight: number; bounded: boolean; bytes: number; bytesPerChar: number };

/** Compiling takes 5-20 us and 2 us a character; charged whether or not it was compiled before. */
const COMPILE_FUEL = 2000;
const COMPILE_CHAR_FUEL = 40;
const INSTRUCTION_FUEL = 4;

/** Kept by size: 256 patterns of 300 Unicode classes held 750 MB. One that outgrows its share is compiled anew. */
const compiled = new LRUCache<string, Regex>({
  maxSize: 32 * 1024 * 1024,
  maxEntrySize: 2 * 1024 * 1024,
  sizeCalculation: ({ bytes }) => bytes,
});

function compile(context: BuiltinContext, pattern: string, text: string): Regex {
  if (pattern.length > limits.regexPatternCharsMax) refuse();
  const { fuel, classes } = patternCost(pattern);
  context.charge(COMPILE_FUEL + pattern.length * COMPILE_CHAR_FUEL + fuel);
  const regex = compiled.get(pattern) ?? compileAnew(pattern, classes);
  context.charge(regex.engine.programSize() * INSTRUCTION_FUEL);
  regex.bytes += text.length * regex.bytesPerChar;
  compiled.set(pattern, regex);
  return regex;
}

function compileAnew(pattern: string, classes: number): Regex {
  let engine: RE2JS;
  try {
    engine = RE2JS.compile(pattern);
  } catch {
    return refuse();
  }
  const size = engine.programSize();
  if (size > limits.regexInstructionsMax)
    throw new PolicyError('memory', `a regular expression exceeds ${limits.regexInstructionsMax} instructions`);
  return {
    engine,
    // measured: 48 ns a character in the DFA, 17-50 ns a character and instruction in the NFA
    weight: Math.max(0.25, size / 8),
    bounded: !/[*+]|,\}/.test(pattern),
    bytes: 4096 + 64 * pattern.length + 300 * size + classes * CLASS_BYTES,
    // a state lists instructions, and where each distinct range of characters leads
    bytesPerChar: 200 + 8 * Math.min(size, 1000) + (classes > 0 ? CLASS_BYTES : 0),
  };
}

type Match = { start: number; end: number; groups: RE2JSMatcher };
type RE2JSMatcher = ReturnType<RE2JS['matcher']>;

/** As Go's FindAll: leftmost matches without overlap; an empty one right after another match does not count. */
function* matches(context: BuiltinContext, regex: Regex, text: string, max: number): Generator<Match> {
  const matcher = regex.engine.matcher(text);
  if (regex.bounded) context.charge(text.length * regex.weight);
  let from = 0;
  for (let found = 0; max < 0 || found < max; ) {
    context.charge(16 + (regex.bounded ? regex.engine.programSize() : text.length - from) * regex.weight);
    if (!matcher.find()) return;
    const [start, end] = [matcher.start(), matcher.end()];
    const abutting = start === end && start === from && found > 0;
    const insidePair = start === end && (text.charCodeAt(start) & 0xfc00) === 0xdc00;
    from = end;
    if (abutting || insidePair) continue;
    found++;
    yield { start, end, groups: matcher };
  }
}

function split(context: BuiltinContext, regex: Regex, text: string): string[] {
  if (text === '') return regex.engine.pattern() === '' ? [] : [''];
  const pieces: string[] = [];
  let from = 0;
  let last = 0;
  for (const { start, end } of matches(context, regex, text, -1)) {
    last = start;
    if (end !== 0) pieces.push(text.slice(from, start));
    from = end;
  }
  if (last !== text.length) pieces.push(text.slice(from));
  return pieces;
}

/** Go's Expand: $1, $name, ${name} and $$; a group that is not there is empty. */
const REFERENCE = /\$(?:\$|(\w+)|\{(\w+)\})/g;

function replaceAll(context: BuiltinContext, regex: Regex, text: string, template: string): string {
  const names = regex.engine.namedGroups();
  let out = '';
  let from = 0;
  for (const { start, end, groups } of matches(context, regex, text, -1)) {
    context.charge(template.length * 2);
    const group = (name: string) => {
      const index = /^\d{1,4}$/.test(name) ? Number(name) : Object.hasOwn(names, name) ? names[name]! : -1;
      return index >= 0 && index <= groups.groupCount() ? (groups.group(index) ?? '') : '';
    };
    const replacement = template.includes('$')
      ? template.replace(REFERENCE, (_all, bare?: string, braced?: string) => {
          const name = bare ?? braced;
          return name === undefined ? '$' : group(name);
        })
      : template;
    out += text.slice(from, start) + replacement;
    boundResult(out.length);
    from = end;
  }
  return out + text.slice(from);
}
