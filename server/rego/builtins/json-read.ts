/** json.unmarshal and json.is_valid: JSON as Go reads it, with its numbers as they are written. */
import type { Meter } from '../budget.ts';
import { NumberText, parseNumber, type Value } from '../value.ts';
import { type BuiltinTable, refuse, stringOf } from './arguments.ts';

export const jsonReadBuiltins: BuiltinTable = {
  'json.unmarshal': (context, text) => readJson(context, stringOf(text)),
  'json.is_valid': (context, text) => {
    if (typeof text !== 'string') return false;
    chargeJson(context, text);
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  },
};

/** The function that looks at each value takes 1 to 2 us. */
const VALUE_FUEL = 20;

/** OPA takes no number with a larger power of two. */
const BINARY_EXPONENT_MAX = 100_000;

/** The value of a JSON text; refuses what is none. */
export function readJson(meter: Meter, text: string): Value {
  chargeJson(meter, text);
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
      if (typeof value === 'number') return numberOf(context?.source as string);
      if (typeof value === 'string') return value.toWellFormed();
      return typeof value === 'object' && value !== null ? composite(value) : value;
    }) as Value;
  } catch (error) {
    if (error instanceof SyntaxError) return refuse();
    throw error;
  }
}

function composite(value: object): Value {
  if (Array.isArray(value) || value instanceof Map || value instanceof NumberText) return value as Value;
  return new Map(Object.entries(value).map(([name, item]) => [name.toWellFormed(), item as Value]));
}

function numberOf(source: string): Value {
  const power = /[eE]([-+]?\d+)$/.exec(source)?.[1];
  if (power !== undefined && exceeds(source, Number(power))) refuse();
  return parseNumber(source);
}

/** Whether a number other than zero is past OPA's bound: 2^100000 is about 10^30103. */
function exceeds(source: string, power: number): boolean {
  const digits = source.replace(/[eE].*$/, '');
  const first = digits.search(/[1-9]/);
  if (first < 0) return false;
  const point = digits.indexOf('.') < 0 ? digits.length : digits.indexOf('.');
  const magnitude = power + (first < point ? point - first : point - first + 1);
  return Math.abs(magnitude) > BINARY_EXPONENT_MAX * Math.log10(2);
}

function chargeJson(meter: Meter, text: string): void {
  let values = 1;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x2c || unit === 0x5b || unit === 0x7b) values++; // , [ { also in strings: never too few
  }
  meter.charge(text.length / 4 + VALUE_FUEL * values);
}
