/** Owns json.* and base64*. */
import { Inexact, type Machine } from '../machine.ts';
import { numberOf } from '../numbers.ts';
import type { PlanValue } from '../values.ts';
import { marshalled } from './json-text.ts';
import { type PlanBuiltin, type PlanBuiltins, spendText } from './table.ts';

/** The function that looks at each value takes 1 to 2 us. */
const VALUE_FUEL = 10;

export const encodingBuiltins: PlanBuiltins = {
  'json.marshal': (machine, value) => marshalled(machine, value as PlanValue),
  'json.unmarshal': (machine, text) => (typeof text === 'string' ? unmarshalled(machine, text) : undefined),
  'json.is_valid': (machine, text) => typeof text === 'string' && unmarshalled(machine, text) !== undefined,
  'base64.encode': encoder('base64'),
  'base64.decode': decoder(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'base64'),
  'base64.is_valid': (machine, text) => {
    if (typeof text !== 'string') return false;
    return decode(machine, text, /^(?:[A-Za-z0-9+/]{4})+$/, 'base64') !== undefined;
  },
  'base64url.decode': decoder(/^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}==|[A-Za-z0-9_-]{3}=)?$/, 'base64url'),
};

/**
 * The value of a JSON text. OPA's parser takes more than JSON and keeps digits as they are: what is no JSON, or has a
 * number that no value here stands for, is left to it.
 */
function unmarshalled(machine: Machine, text: string): PlanValue {
  machine.charge(text.length / 4 + VALUE_FUEL * valuesIn(text));
  machine.hold(text.length * 16);
  try {
    return JSON.parse(text, (key: string, value: unknown, context?: { source?: string }) => {
      if (!key.isWellFormed()) inexact('half of a surrogate pair');
      if (typeof value === 'number') return numberOf(context?.source ?? '') ?? inexact('a number');
      return typeof value === 'string' && !value.isWellFormed() ? inexact('half of a surrogate pair') : value;
    }) as PlanValue;
  } catch (error) {
    if (error instanceof SyntaxError) inexact('what is no JSON');
    throw error;
  }
}

/** About how many values a JSON text has, and never fewer: what is in strings counts too. */
function valuesIn(text: string): number {
  let count = 1;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x2c || unit === 0x5b || unit === 0x7b) count++; // , [ {
  }
  return count;
}

function inexact(what: string): never {
  throw new Inexact(`json.unmarshal of ${what}`);
}

function encoder(encoding: 'base64'): PlanBuiltin {
  return (machine, text: PlanValue | undefined) => {
    if (typeof text !== 'string') return undefined;
    spendText(machine, text.length * 4);
    return Buffer.from(text).toString(encoding);
  };
}

function decoder(strict: RegExp, encoding: 'base64' | 'base64url'): PlanBuiltin {
  return (machine, text: PlanValue | undefined) =>
    typeof text === 'string' ? decode(machine, text, strict, encoding) : undefined;
}

/** OPA's decoder skips what it does not know, and its strings may hold any bytes: both are left to it. */
function decode(machine: Machine, text: string, strict: RegExp, encoding: 'base64' | 'base64url'): string {
  spendText(machine, text.length * 2);
  if (text === '' || !strict.test(text)) throw new Inexact('base64 that is not strict');
  const bytes = Buffer.from(text, encoding);
  const decoded = bytes.toString();
  if (!Buffer.from(decoded).equals(bytes)) throw new Inexact('base64 of other than UTF-8');
  return decoded;
}
