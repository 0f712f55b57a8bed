import { rankOf } from '../compare.ts';
import { isArray, isNumber, isObject, PlanSet } from '../values.ts';
import type { PlanBuiltins } from './table.ts';

const NAMES = ['null', 'boolean', 'number', 'string', 'array', 'object', 'set'] as const;

export const typeBuiltins: PlanBuiltins = {
  is_array: (_machine, value) => isArray(value),
  is_boolean: (_machine, value) => typeof value === 'boolean',
  is_null: (_machine, value) => value === null,
  is_number: (_machine, value) => isNumber(value),
  is_object: (_machine, value) => isObject(value),
  is_set: (_machine, value) => value instanceof PlanSet,
  is_string: (_machine, value) => typeof value === 'string',
  type_name: (_machine, value) => NAMES[rankOf(value)],
};
