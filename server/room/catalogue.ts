/** What all rooms define together: the problems, with those that belong to no room, and the types of events. */
import { authProblem } from '../core/auth/problems.ts';
import { ownershipProblem } from '../core/ownership.ts';
import { type ProblemDefinition, type Problems, problem } from '../core/problems.ts';
import type { EventType } from './events.ts';

/**
 * Every problem that is answered with, by code: the source of docs/problems.md.
 * @throws Error when one code is defined twice
 */
export function allProblems(rooms: readonly { problems?: Problems }[]): ReadonlyMap<string, ProblemDefinition> {
  const catalogues = [problem, authProblem, ownershipProblem, ...rooms.flatMap(({ problems }) => problems ?? [])];
  return byKey(
    'problem',
    catalogues.flatMap(({ catalogue }) => Object.entries(catalogue)),
  );
}

/**
 * Every type of events that actions emit, by name.
 * @throws Error when two have one name
 */
export function allEventTypes(rooms: readonly { events?: readonly EventType[] }[]): ReadonlyMap<string, EventType> {
  const types = rooms.flatMap(({ events }) => events ?? []);
  return byKey(
    'event type',
    types.map((type) => [type.name, type]),
  );
}

function byKey<T>(what: string, entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> {
  const all = new Map<string, T>();
  for (const [key, definition] of entries) {
    if (all.has(key)) throw new Error(`${what} ${key} is defined twice`);
    all.set(key, definition);
  }
  return all;
}
