/** The list of OPA's native builtins that plans have. A policy that calls another stays with its Wasm. */
import { aggregateBuiltins } from './aggregates.ts';
import { arithmeticBuiltins } from './arithmetic.ts';
import { arrayBuiltins } from './arrays.ts';
import { bitBuiltins } from './bits.ts';
import { encodingBuiltins } from './encoding.ts';
import { graphBuiltins } from './graphs.ts';
import { objectBuiltins } from './objects.ts';
import { setBuiltins } from './sets.ts';
import { stringBuiltins } from './strings.ts';
import type { PlanBuiltin } from './table.ts';
import { trimBuiltins } from './trims.ts';
import { typeBuiltins } from './types.ts';

const tables = [
  aggregateBuiltins,
  arithmeticBuiltins,
  arrayBuiltins,
  bitBuiltins,
  encodingBuiltins,
  graphBuiltins,
  objectBuiltins,
  setBuiltins,
  stringBuiltins,
  trimBuiltins,
  typeBuiltins,
];

/** By the name in the plan. */
export const nativeBuiltins: ReadonlyMap<string, PlanBuiltin> = new Map(
  tables.flatMap((table) => Object.entries(table)),
);
