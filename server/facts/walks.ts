/** Owns which walks of a query have a part in common, and the steps of their ways as numbers, pure. */
import type { Walk } from './query.ts';
import { stepsOf, type Ways } from './ways.ts';

/** Walks that begin alike: what they have in common is walked once. */
export type Group = { type: string; id: string; ways: Ways; now: string; members: Walk[] };

export function groupsOf(list: readonly Walk[], start: 'from' | 'to'): Group[] {
  if (list.length === 1) return list.map((one) => groupOf(one, start));
  const groups = new Map<string, Group>();
  const ways = new Map<Ways, number>();
  for (const one of list) {
    if (!ways.has(one.ways)) ways.set(one.ways, ways.size);
    const { type, id } = one[start];
    const key = `${type} ${id} ${ways.get(one.ways)} ${one.now}`;
    const group = groups.get(key);
    if (group) group.members.push(one);
    else groups.set(key, groupOf(one, start));
  }
  return [...groups.values()];
}

function groupOf(one: Walk, start: 'from' | 'to'): Group {
  const { type, id = '' } = one[start];
  return { type, id, ways: one.ways, now: one.now, members: [one] };
}

type Place = { name: string; type: string };
/** The steps of ways, as SQL knows them: what was passed last is a number, its place among the types of the ways. */
export type Course = {
  first: (Place & { state: number })[];
  inner: (Place & { after: number; state: number })[];
  last: (Place & { after: number })[];
  states: number;
};

const known = { from: new WeakMap<Ways, Course>(), to: new WeakMap<Ways, Course>() };

function courseOf(ways: Ways, start: 'from' | 'to'): Course {
  const found = known[start].get(ways);
  if (found) return found;
  const steps = stepsOf(ways, start);
  const keys = [...new Set(steps.map((step) => step.key))];
  const numbered = steps.map((step) => ({ ...step, state: keys.indexOf(step.key), after: keys.indexOf(step.after) }));
  const course = {
    first: numbered.filter(({ after, inner }) => after < 0 && inner),
    inner: numbered.filter(({ after, inner }) => after >= 0 && inner),
    last: numbered.filter(({ after, last }) => after >= 0 && last),
    states: keys.length,
  };
  known[start].set(ways, course);
  return course;
}

/** Numbers the places of all ways of a query. */
export function coursesOf(groups: readonly Group[], start: 'from' | 'to'): Map<Ways, Course & { base: number }> {
  const courses = new Map<Ways, Course & { base: number }>();
  let base = 0;
  for (const { ways } of groups) {
    if (courses.has(ways)) continue;
    const course = courseOf(ways, start);
    courses.set(ways, { ...course, base });
    base += course.states;
  }
  return courses;
}
