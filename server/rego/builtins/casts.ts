/** The deprecated cast_* builtins of Rego v0, and numbers.range_step. */
import { distinct, sortedValues } from '../compare.ts';
import { RegoSet, type Value } from '../value.ts';
import {
  type BuiltinTable,
  bigintOf,
  booleanOf,
  boundResult,
  itemsOf,
  objectOf,
  refuse,
  stringOf,
} from './arguments.ts';

export const castBuiltins: BuiltinTable = {
  cast_array: (context, value) => (value instanceof RegoSet ? sortedValues(context, value.items) : [...itemsOf(value)]),
  cast_set: (context, value) => distinct(context, itemsOf(value)),
  cast_string: (_context, value) => stringOf(value),
  cast_boolean: (_context, value) => booleanOf(value),
  cast_null: (_context, value) => (value === null ? null : refuse()),
  cast_object: (_context, value) => objectOf(value),
  'numbers.range_step': (context, first, last, step) => {
    const [from, to, by] = [bigintOf(first), bigintOf(last), bigintOf(step)];
    if (by <= 0n) refuse();
    const count = (from <= to ? to - from : from - to) / by + 1n;
    boundResult(Number(count) * 2);
    context.charge(Number(count) * 8);
    const direction = from <= to ? by : -by;
    const numbers: Value[] = [];
    for (let i = 0n; i < count; i++) numbers.push(from + direction * i);
    return numbers;
  },
};
