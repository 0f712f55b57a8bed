/**
 * Owns how control passes between statements: what each tells the block that it stands in. A statement that is undefined
 * leaves its own block, a break leaves as many more as it says.
 */
import { exhausted, type Machine } from './machine.ts';
import type { PlanValue } from './values.ts';

/** The locals of all functions; undefined is Rego's undefined. */
export type Frame = (PlanValue | undefined)[];

/** Runs, and says how it goes on: NEXT, RETURN, or the number of blocks to leave beyond its own. */
export type Run = (machine: Machine, frame: Frame) => number;

export const NEXT = -1;
/** Leaves the statement's own block: what undefined does. */
export const LEAVE = 0;
export const RETURN = 1 << 30;

/** After an inner block: NEXT when that alone was left. */
export function outward(signal: number): number {
  if (signal <= LEAVE) return NEXT;
  return signal === RETURN ? RETURN : signal - 1;
}

/** One statement after the other, as long as they say NEXT. A unit of fuel for each, taken beforehand. */
export function sequence(statements: readonly Run[]): Run {
  const count = statements.length;
  if (count === 0) return () => NEXT;
  return (machine, frame) => {
    machine.fuel -= count;
    if (machine.fuel < 0) exhausted();
    for (let i = 0; i < count; i++) {
      const signal = (statements[i] as Run)(machine, frame);
      if (signal !== NEXT) return signal;
    }
    return NEXT;
  };
}
