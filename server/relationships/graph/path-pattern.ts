/**
 * Which stored relationships can be parts of a relationship that is asked for, pure: where its paths begin and end, and what
 * may follow what on them.
 */
import { closureOf, followsOf, type Types } from '../../types/index.ts';

/** Keys are From:rel:To. */
export type PathPattern = {
  /** Types of the first stored relationship of a path, the relationship's own among them, and of the last. */
  readonly begins: ReadonlySet<string>;
  readonly ends: ReadonlySet<string>;
  readonly follows: readonly (readonly [string, string])[];
};

const known = new WeakMap<Types, Map<string, PathPattern>>();

/** The paths over which a relationship type may hold; undefined when it holds only where it is stored. */
export function pathPatternOf(types: Types, key: string): PathPattern | undefined {
  if (!types.inheritances.some(({ makes }) => makes === key)) return undefined;
  const patterns = known.get(types) ?? new Map<string, PathPattern>();
  known.set(types, patterns);
  const found = patterns.get(key) ?? followed(types, key);
  patterns.set(key, found);
  return found;
}

function followed({ inheritances }: Types, key: string): PathPattern {
  const firsts = closureOf(inheritances, ({ through }) => through);
  const lasts = closureOf(inheritances, ({ next }) => next);
  // Closed over both: what the parts of the parts are made of.
  const parts = new Set([key]);
  for (const part of parts) for (const found of [firsts(part), lasts(part)]) for (const one of found) parts.add(one);
  const follows = followsOf(inheritances.filter(({ makes }) => parts.has(makes)));
  return { begins: firsts(key), ends: lasts(key), follows };
}

/**
 * A type (by its key) that may come after another ('' at the begin): whether one may come after it, and whether it may be
 * the last. `type` is that of its far end.
 */
type Step = { after: string; key: string; name: string; type: string; inner: boolean; last: boolean };

/** The steps of its paths from one end to the other. */
export function stepsOf({ begins, ends, follows }: PathPattern, start: 'from' | 'to'): Step[] {
  const [firsts, lasts] = start === 'from' ? [begins, ends] : [ends, begins];
  const pairs = follows.map(([a, b]) => (start === 'from' ? ([a, b] as const) : ([b, a] as const)));
  const inner = new Set(pairs.map(([a]) => a));
  const steps = [...[...firsts].map((key) => ['', key] as const), ...pairs];
  return steps.map(([after, key]) => {
    const [from = '', name = '', to = ''] = key.split(':');
    return { after, key, name, type: start === 'from' ? to : from, inner: inner.has(key), last: lasts.has(key) };
  });
}
