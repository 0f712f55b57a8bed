/** How a builtin of OPA's Wasm is written for plans: what it gets, and how it says undefined. */
import type { Machine } from '../machine.ts';
import type { PlanValue } from '../values.ts';

/** Undefined is Rego's undefined. Throws PlanBailout for what it does not do as OPA's Wasm, PolicyError past a bound. */
export type PlanBuiltin = (machine: Machine, ...args: PlanValue[]) => PlanValue | undefined;

export type PlanBuiltins = Readonly<Record<string, PlanBuiltin>>;

/** Counts a text that is about to be built, before it is. */
export function spendText(machine: Machine, chars: number): void {
  machine.charge(chars / 32);
  machine.allocate(chars * 2);
}

/** Counts an array that is about to be built. */
export function spendItems(machine: Machine, items: number): void {
  machine.charge(items / 4);
  machine.allocate(items * 8);
}
