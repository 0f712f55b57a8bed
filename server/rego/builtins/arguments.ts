/**
 * How host builtins are written: what they get, and how they refuse an argument. A refused argument makes the
 * call undefined, as in OPA without strict errors; running out of budget ends the evaluation instead, because an
 * undefined condition under `not` would grant.
 */
import { limits } from '../../core/limits.ts';
import { type Meter, PolicyError } from '../budget.ts';
import { type RegoObject, RegoSet, type Value } from '../value.ts';

/** `now` is the instant of the evaluation, nanoseconds since the Unix epoch. */
export type BuiltinContext = Meter & { readonly now: bigint };

/** A host builtin: undefined is Rego's undefined. Throws nothing but PolicyError. */
export type Builtin = (context: BuiltinContext, ...args: Value[]) => Value | undefined;

export type BuiltinTable = Readonly<Record<string, Builtin>>;

class BadArgument extends Error {}

/** One instance: making an Error with its stack costs more than most builtins. */
const badArgument = new BadArgument('bad argument');

/** Ends the builtin with undefined. */
export function refuse(): never {
  throw badArgument;
}

/** What `run` gives, or undefined when it refused. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error === badArgument) return undefined;
    throw error;
  }
}

/** `run`, with a refused argument turned into undefined. */
export function guarded(run: Builtin): Builtin {
  return (context, ...args) => attempt(() => run(context, ...args));
}

export function stringOf(value: Value | undefined): string {
  return typeof value === 'string' ? value : refuse();
}

export function booleanOf(value: Value | undefined): boolean {
  return typeof value === 'boolean' ? value : refuse();
}

export function arrayOf(value: Value | undefined): Value[] {
  return Array.isArray(value) ? value : refuse();
}

export function objectOf(value: Value | undefined): RegoObject {
  return value instanceof Map ? value : refuse();
}

/** The items of an array or a set. */
export function itemsOf(value: Value | undefined): readonly Value[] {
  return value instanceof RegoSet ? value.items : arrayOf(value);
}

/** The items of an array or a set, which must all be strings. */
export function stringsOf(value: Value | undefined): string[] {
  return itemsOf(value).map(stringOf);
}

/** A number without a fraction, of any size. Texts like 1.0 and 1e3 count. */
export function bigintOf(value: Value | undefined): bigint {
  if (typeof value === 'bigint') return value;
  const number = typeof value === 'number' ? value : Number.NaN;
  if (Number.isSafeInteger(number)) return BigInt(number);
  return integerText(value);
}

function integerText(value: Value | undefined): bigint {
  const text = typeof value === 'object' && value !== null && 'text' in value ? value.text : refuse();
  const parts = /^(-?\d{1,1000})(?:\.(\d{1,1000}))?(?:[eE]([-+]?\d{1,3}))?$/.exec(text) ?? refuse();
  const fraction = (parts[2] ?? '').replace(/0+$/, '');
  const zeros = Number(parts[3] ?? 0) - fraction.length;
  if (zeros < 0 || zeros > 400) refuse();
  return BigInt(parts[1]! + fraction) * 10n ** BigInt(zeros);
}

/** An integer within ±2^53. */
export function integerOf(value: Value | undefined): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const number = Number(bigintOf(value));
  return Number.isSafeInteger(number) ? number : refuse();
}

/** Throws PolicyError (memory) when a result of `bytes` would be too large: call before building it. */
export function boundResult(bytes: number): void {
  if (bytes > limits.builtinResultBytesMax)
    throw new PolicyError('memory', `a builtin's result would exceed ${limits.builtinResultBytesMax} bytes`);
}

/** A Rego object with these entries. */
export function objectFrom(entries: Readonly<Record<string, Value>>): RegoObject {
  return new Map(Object.entries(entries));
}
