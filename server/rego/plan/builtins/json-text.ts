/** Owns values as text: as json.marshal writes them, and as templates show them. */
import type { Machine } from '../machine.ts';
import { orderedItems, orderedPairs } from '../order.ts';
import { isArray, isNumber, PlanSet, type PlanValue } from '../values.ts';
import { spendText } from './table.ts';

/** JSON; sets as arrays, keys that are no strings as their own JSON text. */
export function marshalled(machine: Machine, value: PlanValue): string {
  const scalar = scalarText(machine, value);
  if (scalar !== undefined) return scalar;
  const items = value instanceof PlanSet ? orderedItems(machine, value) : value;
  const inner = (item: PlanValue) => marshalled(machine, item);
  if (isArray(items)) return counted(machine, `[${items.map(inner).join(',')}]`);
  const pairs = orderedPairs(machine, value as Parameters<typeof orderedPairs>[1]);
  const texts = pairs.map(([key, item]) => `${inner(typeof key === 'string' ? key : inner(key))}:${inner(item)}`);
  return counted(machine, `{${texts.join(',')}}`);
}

/** Rego's own text, with spaces. */
export function dumped(machine: Machine, value: PlanValue): string {
  const scalar = scalarText(machine, value);
  if (scalar !== undefined) return scalar;
  const inner = (item: PlanValue) => dumped(machine, item);
  if (value instanceof PlanSet) {
    if (value.size === 0) return 'set()';
    return counted(machine, `{${orderedItems(machine, value).map(inner).join(', ')}}`);
  }
  if (isArray(value)) return counted(machine, `[${value.map(inner).join(', ')}]`);
  const pairs = orderedPairs(machine, value as Parameters<typeof orderedPairs>[1]);
  return counted(machine, `{${pairs.map(([key, item]) => `${inner(key)}: ${inner(item)}`).join(', ')}}`);
}

/** A text is paid for on each level that copies it. */
function counted(machine: Machine, text: string): string {
  machine.charge(2);
  spendText(machine, text.length);
  return text;
}

function scalarText(machine: Machine, value: PlanValue): string | undefined {
  if (typeof value === 'string') {
    machine.charge(value.length / 16);
    machine.hold(value.length * 2);
    return quoted(machine, value);
  }
  if (isNumber(value)) {
    machine.charge(Number.isSafeInteger(value) ? 1 : 8); // the shortest digits of a fraction take 1 us
    return String(Object.is(value, -0) ? 0 : value);
  }
  return typeof value === 'object' && value !== null ? undefined : String(value);
}

/** JavaScript has short escapes for backspace and form feed; OPA's Wasm does not. */
function quoted(machine: Machine, text: string): string {
  const json = JSON.stringify(text);
  if (!json.includes('\\b') && !json.includes('\\f')) return json;
  machine.charge(text.length);
  return json.replace(/\\(?:u[0-9a-f]{4}|.)/g, (found) =>
    found === '\\b' ? '\\u0008' : found === '\\f' ? '\\u000c' : found,
  );
}
