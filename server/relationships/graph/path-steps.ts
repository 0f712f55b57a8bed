/** Which walks of a query begin alike, and the steps of their path patterns as numbers, pure. */

import { type PathPattern, stepsOf } from './path-pattern.ts';
import type { Walk } from './query.ts';

/** Walks that begin alike: what they have in common is walked once. */
export type Group = { type: string; id: string; pattern: PathPattern; now: string; members: Walk[] };

export function groupsOf(list: readonly Walk[], start: 'from' | 'to'): Group[] {
  if (list.length === 1) return list.map((one) => groupOf(one, start));
  const groups = new Map<string, Group>();
  const numbers = new Map<PathPattern, number>();
  for (const one of list) {
    if (!numbers.has(one.pattern)) numbers.set(one.pattern, numbers.size);
    const { type, id } = one[start];
    const key = `${type} ${id} ${numbers.get(one.pattern)} ${one.now}`;
    const group = groups.get(key);
    if (group) group.members.push(one);
    else groups.set(key, groupOf(one, start));
  }
  return [...groups.values()];
}

function groupOf(one: Walk, start: 'from' | 'to'): Group {
  const { type, id = '' } = one[start];
  return { type, id, pattern: one.pattern, now: one.now, members: [one] };
}

type Place = { name: string; type: string };
/** The steps of a pattern, as SQL knows them: what was passed last is a number, its place among the types of the pattern. */
export type PathSteps = {
  first: (Place & { state: number })[];
  inner: (Place & { after: number; state: number })[];
  last: (Place & { after: number })[];
  states: number;
};

const pathSteps = { from: new WeakMap<PathPattern, PathSteps>(), to: new WeakMap<PathPattern, PathSteps>() };

function pathStepsOf(pattern: PathPattern, start: 'from' | 'to'): PathSteps {
  const known = pathSteps[start].get(pattern);
  if (known) return known;
  const steps = stepsOf(pattern, start);
  const keys = [...new Set(steps.map((step) => step.key))];
  const numbered = steps.map((step) => ({ ...step, state: keys.indexOf(step.key), after: keys.indexOf(step.after) }));
  const found = {
    first: numbered.filter(({ after, inner }) => after < 0 && inner),
    inner: numbered.filter(({ after, inner }) => after >= 0 && inner),
    last: numbered.filter(({ after, last }) => after >= 0 && last),
    states: keys.length,
  };
  pathSteps[start].set(pattern, found);
  return found;
}

/** Numbers the places of all patterns of a query. */
export function numberedSteps(
  groups: readonly Group[],
  start: 'from' | 'to',
): Map<PathPattern, PathSteps & { base: number }> {
  const numbered = new Map<PathPattern, PathSteps & { base: number }>();
  let base = 0;
  for (const { pattern } of groups) {
    if (numbered.has(pattern)) continue;
    const steps = pathStepsOf(pattern, start);
    numbered.set(pattern, { ...steps, base });
    base += steps.states;
  }
  return numbered;
}
