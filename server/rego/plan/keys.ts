/** What two equal values share: themselves when they are scalars and short, else a text that no string of Rego is. */
import { hash } from 'node:crypto';
import { sortedTexts } from '../compare.ts';
import type { Machine } from './machine.ts';
import { isNumber, type Key, PlanObject, PlanSet, type PlanValue } from './values.ts';

/** Strings are well-formed here, so none begins with half of a surrogate pair. */
const COMPOSITE = '\ud800';
const NUMBER = '\ud801';
const DIGEST = '\ud802';
/**
 * V8 hashes no text that is longer than 16,383 units but takes its length for the hash: a thousand of one length in a set
 * would be compared each with each. Their digests are their keys.
 */
export const HASHED_CHARS_MAX = 16_000;
const HASHED_CHARS_PER_UNIT = 32;
/**
 * Whole numbers below this are their own keys. V8 hashes numbers without a seed, so that a caller can choose many of one
 * hash (6000 such in an array made a set of them take ten times as long, and that grows with the square); it hashes text with one.
 */
const SMALL_NUMBER = 256;
const NUMBER_FUEL = 2;
const FRACTION_FUEL = 8; // its shortest digits take 1 us
const CHARS_PER_UNIT = 16;
const VALUE_FUEL = 4; // 0.2-0.4 us for each part of a composite

export function keyOf(machine: Machine, value: PlanValue): Key {
  if (typeof value === 'string') {
    if (value.length > 256) machine.charge(value.length / HASHED_CHARS_PER_UNIT);
    return value.length > HASHED_CHARS_MAX ? DIGEST + digest(value) : value;
  }
  if (isNumber(value)) return numberKey(machine, value);
  if (typeof value !== 'object' || value === null) return value;
  const text = textOf(machine, value);
  if (text.length > HASHED_CHARS_MAX) return COMPOSITE + digest(text);
  machine.allocate(text.length);
  return COMPOSITE + text;
}

/** Its beginning is no text of a composite's, which begins with a bracket. */
function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** A double past 2^53 stands for its decimal text, which a bigint may be as well: the text is the key of both. */
function numberKey(machine: Machine, value: number | bigint): Key {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < SMALL_NUMBER) return value;
  machine.charge(Number.isSafeInteger(value) ? NUMBER_FUEL : FRACTION_FUEL);
  return NUMBER + String(value);
}

function textOf(machine: Machine, value: PlanValue): string {
  const text = ownText(machine, value);
  machine.charge(VALUE_FUEL + text.length / CHARS_PER_UNIT); // once for each level that copies it
  return text;
}

function ownText(machine: Machine, value: PlanValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (isNumber(value)) {
    if (!Number.isSafeInteger(value)) machine.charge(FRACTION_FUEL);
    return Object.is(value, -0) ? '0' : String(value);
  }
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => textOf(machine, item)).join()}]`;
  if (value instanceof PlanSet) {
    const items = Array.from(value.entries.values(), ({ key }) => textOf(machine, key));
    return `<${sortedTexts(machine, items).join()}>`;
  }
  const pairs =
    value instanceof PlanObject
      ? Array.from(value.entries.values(), (held) => `${textOf(machine, held.key)}:${textOf(machine, held.value)}`)
      : Object.entries(value).map(([key, item]) => `${textOf(machine, key)}:${textOf(machine, item)}`);
  return `{${sortedTexts(machine, pairs).join()}}`;
}
