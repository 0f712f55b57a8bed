/** The check of a graph's shape as a request's body goes through it, and the errors of what has that shape. */
import Ajv from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { checkGraph, GraphSchema, type PolicyGraph } from '../../../server/policies/graph/index.ts';

export const hasShape = new Ajv.default({ strict: true }).compile(GraphSchema);

/** The errors of a graph of the right shape, as "pointer: detail". */
export function errorsOf(graph: PolicyGraph): string[] {
  expect(hasShape(graph), JSON.stringify(hasShape.errors)).toBe(true);
  return checkGraph(graph).map(({ pointer, detail }) => `${pointer}: ${detail}`);
}
