/** Owns operands: where a statement's value comes from, a local or a constant. */
import type { Frame } from './flow.ts';
import { Declined, type Operand } from './source.ts';
import type { PlanValue } from './values.ts';

/** A local's number, or else its constant. */
export type Source = { local: number; constant?: never } | { local?: never; constant: PlanValue };

/** Throws Declined for a string that the plan does not have. */
export function constantOf(operand: Exclude<Operand, number>, strings: readonly string[]): Source {
  if (typeof operand === 'boolean') return { constant: operand };
  const text = strings[operand[0]];
  if (text === undefined) throw new Declined(`the plan has no string ${operand[0]}`);
  if (!text.isWellFormed()) throw new Declined('a string is not well-formed');
  return { constant: text };
}

export type Read = (frame: Frame) => PlanValue | undefined;

export function reader(source: Source): Read {
  const { local, constant } = source;
  return local === undefined ? () => constant : (frame) => frame[local];
}
