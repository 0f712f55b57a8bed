import type { Machine } from '../machine.ts';
import type { PlanValue } from '../values.ts';
import { type PlanBuiltin, type PlanBuiltins, spendText } from './table.ts';

/** Those of Go's unicode.IsSpace, which OPA follows: not U+FEFF, which is one to JavaScript's trim, but U+0085. */
const SPACES =
  '\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

export const trimBuiltins: PlanBuiltins = {
  trim: ofTexts((machine, text, cutset) => trimmed(machine, text, cutset, true, true)),
  trim_left: ofTexts((machine, text, cutset) => trimmed(machine, text, cutset, true, false)),
  trim_right: ofTexts((machine, text, cutset) => trimmed(machine, text, cutset, false, true)),
  trim_prefix: ofTexts((_machine, text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  trim_suffix: ofTexts((_machine, text, suffix) =>
    text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text,
  ),
  trim_space: (machine, text) => (typeof text === 'string' ? trimmed(machine, text, SPACES, true, true) : undefined),
};

function ofTexts(run: (machine: Machine, text: string, other: string) => string): PlanBuiltin {
  return (machine, a: PlanValue | undefined, b: PlanValue | undefined) => {
    if (typeof a !== 'string' || typeof b !== 'string') return undefined;
    spendText(machine, a.length);
    return run(machine, a, b);
  };
}

function trimmed(machine: Machine, text: string, cutset: string, left: boolean, right: boolean): string {
  machine.charge(cutset.length);
  const cut = new Set(cutset);
  let [from, to] = [0, text.length];
  for (let width = 1; left && from < to; from += width) {
    width = widthAt(text, from);
    if (!cut.has(text.slice(from, from + width))) break;
  }
  for (let width = 1; right && to > from; to -= width) {
    width = to - from > 1 && isLow(text.charCodeAt(to - 1)) ? 2 : 1;
    if (!cut.has(text.slice(to - width, to))) break;
  }
  machine.charge(text.length - (to - from));
  return text.slice(from, to);
}

/** Units of the code point that begins there; texts are well-formed. */
function widthAt(text: string, at: number): number {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 ? 2 : 1;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
