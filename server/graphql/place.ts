/** Where in a document something is wrong, as problems tell it. */
import type { ProblemPlace } from '../core/problems.ts';

export function placeOf(detail: string, at?: { line: number; column: number }): ProblemPlace {
  return { pointer: '/query', detail, ...(at === undefined ? {} : { line: at.line, column: at.column }) };
}
