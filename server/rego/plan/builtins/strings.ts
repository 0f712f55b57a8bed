/** Builtins on strings. Positions and lengths count code points. */
import { type Machine, PlanBailout } from '../machine.ts';
import { integerOf, isInteger, numberOf } from '../numbers.ts';
import { isNumber, type PlanValue } from '../values.ts';
import { orderedItemsOf } from './aggregates.ts';
import { type PlanBuiltin, type PlanBuiltins, spendItems, spendText } from './table.ts';

const NEEDLE_UNITS_LINEAR = 250;

export const stringBuiltins: PlanBuiltins = {
  concat: (machine, separator, parts) => {
    const texts = typeof separator === 'string' ? orderedItemsOf(machine, parts) : undefined;
    if (texts === undefined || !texts.every((text) => typeof text === 'string')) return undefined;
    let chars = texts.length * (separator as string).length;
    for (const text of texts) chars += text.length;
    machine.charge(texts.length / 4);
    spendText(machine, chars);
    return texts.join(separator as string);
  },
  contains: search((text, part) => text.includes(part)),
  startswith: atEnd((text, part) => text.startsWith(part)),
  endswith: atEnd((text, part) => text.endsWith(part)),
  indexof: search((text, part) => points(text, text.indexOf(part))),
  lower: ascii((text) => text.toLowerCase()),
  upper: ascii((text) => text.toUpperCase()),
  replace: (machine, text, old, by) => {
    if (typeof text !== 'string' || typeof old !== 'string' || typeof by !== 'string') return undefined;
    if (old === '') throw new PlanBailout('OPA does not end');
    chargeSearch(machine, text, old);
    const parts = text.split(old);
    spendItems(machine, parts.length);
    spendText(machine, text.length + parts.length * by.length);
    return parts.join(by);
  },
  split: (machine, text, separator) => {
    if (typeof text !== 'string' || typeof separator !== 'string') return undefined;
    chargeSearch(machine, text, separator);
    if (separator === '') machine.allocate(text.length * 32);
    const parts = separator === '' ? Array.from(text) : text.split(separator);
    machine.charge(parts.length / 2);
    machine.allocate(parts.length * 32);
    return parts;
  },
  substring,
  'strings.reverse': (machine, text) => {
    if (typeof text !== 'string') return undefined;
    spendText(machine, text.length * 16);
    return Array.from(text).reverse().join('');
  },
  to_number: (machine, value) => {
    if (value === null) return 0;
    if (typeof value === 'boolean') return Number(value);
    if (isNumber(value)) return value;
    return typeof value === 'string' ? parsed(machine, value) : undefined;
  },
};

/**
 * V8 finds a part of up to 250 units in linear time. Of a longer one it looks at all units again at every step, at worst
 * ("ab" and then "a" alone in a text of "a": 0.4 to 0.8 ns each).
 */
function chargeSearch(machine: Machine, text: string, part: string): void {
  const steps = Math.max(0, text.length - part.length + 1);
  machine.charge(text.length / 32 + (part.length > NEEDLE_UNITS_LINEAR ? (steps * part.length) / 128 : 0));
}

function search(run: (text: string, part: string) => boolean | number): PlanBuiltin {
  return (machine, text: PlanValue | undefined, part: PlanValue | undefined) => {
    if (typeof text !== 'string' || typeof part !== 'string') return undefined;
    if (text.length > 32) chargeSearch(machine, text, part);
    return run(text, part);
  };
}

function atEnd(run: (text: string, part: string) => boolean): PlanBuiltin {
  return (machine, text: PlanValue | undefined, part: PlanValue | undefined) => {
    if (typeof text !== 'string' || typeof part !== 'string') return undefined;
    if (part.length > 32) machine.charge(part.length / 32);
    return run(text, part);
  };
}

/** How many code points lie before an offset; a negative one stays. */
function points(text: string, offset: number): number {
  let count = offset;
  for (let i = 0; i < offset; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--;
  return count;
}

function ascii(run: (text: string) => string): PlanBuiltin {
  return (machine, text: PlanValue | undefined) => {
    if (typeof text !== 'string') return undefined;
    spendText(machine, text.length);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what it is
    if (!/^[\x00-\x7f]*$/.test(text)) throw new PlanBailout('letters beyond ASCII: OPA maps them by tables of its own');
    return run(text);
  };
}

function substring(machine: Machine, text?: PlanValue, from?: PlanValue, length?: PlanValue): PlanValue | undefined {
  if (typeof text !== 'string' || !isNumber(from) || !isNumber(length)) return undefined;
  if (!isInteger(from) || !isInteger(length)) return undefined;
  const [start, count] = [integerOf(from) as number, integerOf(length) as number];
  if (start < 0) return undefined;
  spendText(machine, text.length * 4);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what it is
  if (/^[\x00-\x7f]*$/.test(text)) return text.slice(start, count < 0 ? undefined : start + count);
  machine.charge(text.length);
  return Array.from(text)
    .slice(start, count < 0 ? undefined : start + count)
    .join('');
}

/** What OPA takes for a number is wider than JSON (".", "-"): such a text is left to it. */
function parsed(machine: Machine, text: string): PlanValue | undefined {
  machine.charge(text.length / 16);
  if (text === '' || !/^-?\d*(?:\.\d*)?(?:[eE][-+]?\d*)?$/.test(text)) return undefined;
  const number = numberOf(text);
  if (number === undefined) throw new PlanBailout('a text of a number that is not the shortest');
  return number;
}
