import { compare, equal } from '../compare.ts';
import { PlanBailout } from '../machine.ts';
import { chargeArithmetic, dividedBy, integerOf, isInteger, minus, plus, remainder, times } from '../numbers.ts';
import { isNumber, PlanSet, type PlanValue } from '../values.ts';
import { difference } from './sets.ts';
import { type PlanBuiltin, type PlanBuiltins, spendItems } from './table.ts';

export const arithmeticBuiltins: PlanBuiltins = {
  plus: binary(plus),
  mul: binary(times),
  div: binary(dividedBy, 20), // digit by digit: up to 3 us
  rem: binary(remainder),
  minus: (machine, a, b) => {
    if (isNumber(a) && isNumber(b)) {
      chargeArithmetic(machine, a, b);
      return minus(a, b);
    }
    return a instanceof PlanSet && b instanceof PlanSet ? difference(machine, a, b) : undefined;
  },
  abs: unary(Math.abs),
  ceil: unary(Math.ceil),
  floor: unary(Math.floor),
  round: unary((value) => Math.sign(value) * Math.floor(Math.abs(value) + 0.5)), // half away from zero
  equal: (machine, a, b) => equal(machine, a, b),
  neq: (machine, a, b) => !equal(machine, a, b),
  lt: (machine, a, b) => compare(machine, a, b) < 0,
  lte: (machine, a, b) => compare(machine, a, b) <= 0,
  gt: (machine, a, b) => compare(machine, a, b) > 0,
  gte: (machine, a, b) => compare(machine, a, b) >= 0,
  'numbers.range': (machine, a, b) => {
    if (!isNumber(a) || !isNumber(b) || !isInteger(a) || !isInteger(b)) return undefined;
    const [first, last] = [integerOf(a) as number, integerOf(b) as number];
    const [count, step] = [Math.abs(last - first) + 1, first <= last ? 1 : -1];
    spendItems(machine, count);
    machine.charge(count);
    return Array.from({ length: count }, (_, i) => first + i * step);
  },
};

function binary(
  compute: (a: number | bigint, b: number | bigint) => number | bigint | undefined,
  more = 0,
): PlanBuiltin {
  return (machine, a, b) => {
    if (!isNumber(a) || !isNumber(b)) return undefined;
    if (more > 0) machine.charge(more);
    chargeArithmetic(machine, a, b);
    return compute(a, b);
  };
}

/** Exact for fractions: they lie below 2^53, where rounding a double rounds its text. */
function unary(compute: (value: number) => number): PlanBuiltin {
  return (_machine, value: PlanValue | undefined) => {
    if (!isNumber(value)) return undefined;
    if (typeof value === 'bigint' || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      throw new PlanBailout('an integer past 2^53');
    return compute(value) + 0; // -0 + 0 is 0
  };
}
