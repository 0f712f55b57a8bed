/** Owns the list of all problems: those of the rooms, and those that belong to no room. */
import { authProblem } from '../core/auth/problems.ts';
import { ownershipProblem } from '../core/ownership.ts';
import { type ProblemDefinition, type Problems, problem } from '../core/problems.ts';

/**
 * Every problem that is answered with, by code: the source of docs/problems.md.
 * @throws Error when one code is defined twice
 */
export function allProblems(rooms: readonly { problems?: Problems }[]): ReadonlyMap<string, ProblemDefinition> {
  const all = new Map<string, ProblemDefinition>();
  const catalogues = [problem, authProblem, ownershipProblem, ...rooms.flatMap(({ problems }) => problems ?? [])];
  for (const [code, definition] of catalogues.flatMap(({ catalogue }) => Object.entries(catalogue))) {
    if (all.has(code)) throw new Error(`problem ${code} is defined twice`);
    all.set(code, definition);
  }
  return all;
}
