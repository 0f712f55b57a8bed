import { integerOf } from '../numbers.ts';
import { isArray, isNumber } from '../values.ts';
import { type PlanBuiltins, spendItems } from './table.ts';

export const arrayBuiltins: PlanBuiltins = {
  'array.concat': (machine, a, b) => {
    if (!isArray(a) || !isArray(b)) return undefined;
    spendItems(machine, a.length + b.length);
    return a.concat(b);
  },
  'array.flatten': (machine, value) => {
    if (!isArray(value)) return undefined;
    let count = 0;
    for (const item of value) count += isArray(item) ? item.length : 1;
    spendItems(machine, count + value.length);
    return value.flat(1);
  },
  'array.reverse': (machine, value) => {
    if (!isArray(value)) return undefined;
    spendItems(machine, value.length);
    return value.toReversed();
  },
  'array.slice': (machine, value, from, to) => {
    if (!isArray(value) || !isNumber(from) || !isNumber(to)) return undefined;
    const [first, last] = [integerOf(from), integerOf(to)];
    if (first === undefined || last === undefined) return undefined;
    const end = Math.min(Math.max(last, 0), value.length);
    const start = Math.min(Math.max(first, 0), end);
    spendItems(machine, end - start);
    return value.slice(start, end);
  },
};
