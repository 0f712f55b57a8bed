/**
 * What follows from stored relationships by inheritance, pure. A relationship of type R holds from x to y when it is
 * stored, or when a way of R holds from x over some z to y, however many stored ones that passes. Shorter ones are found
 * before longer ones, so cycles end by themselves. What is too much is refused, never cut: a policy may negate what it is given.
 */
import { limits } from '../../core/limits.ts';
import type { InheritedPath, Step } from '../../facts/index.ts';
import type { Inheritance, Types } from '../../types/index.ts';
import type { Edge } from './schema.ts';
import type { TooMuch } from './too-much.ts';

/**
 * A relationship that holds: stored ones alone, or the two that it follows from by a way. `first` and `last` are the stored
 * ones at its ends; `length` counts those that it passes.
 */
type Held = {
  key: string;
  type: string;
  from: string;
  to: string;
  first: Edge;
  last: Edge;
  length: number;
  by?: { way: Inheritance; parts: readonly [Held, Held] };
};

type Resolved = {
  /** Those that hold at the root, stored ones first. */
  entries: { name: string; node: Edge['from'] }[];
  attributes: ReadonlyMap<string, Record<string, unknown>>;
  /** Over which stored ones those hold that are not stored themselves. */
  paths: () => InheritedPath[];
};

/** No id has a control character. */
export const nodeKey = ({ type, id }: Edge['from']): string => `${type}\0${id}`;

/**
 * The relationships from (or to) the root, out of all stored ones on the paths there.
 * @param edges each once
 * @param isWanted those that matter; all unless given
 * @returns a text when there are more than a policy may be given
 */
export function resolve(
  side: 'from' | 'to',
  root: Edge['from'],
  edges: readonly Edge[],
  types: Pick<Types, 'inheritances'>,
  isWanted: (name: string, node: Edge['from']) => boolean = () => true,
): Resolved | TooMuch {
  const at = nodeKey(root);
  const direct = edges.map(stored);
  const held = canFollow(edges, types) ? deduce(direct, types.inheritances) : direct;
  if (typeof held === 'string') return held;
  const entries: Resolved['entries'] = [];
  const attributes = new Map<string, Record<string, unknown>>();
  const inherited: Held[] = [];
  for (const one of held) {
    if (one[side] !== at) continue;
    const far = side === 'from' ? one.last : one.first;
    const node = side === 'from' ? far.to : far.from;
    const name = nameOf(one);
    if (!isWanted(name, node)) continue;
    if (entries.length === limits.factsEntriesMax) return `more than ${limits.factsEntriesMax} relationships`;
    if (far.attributes !== undefined) attributes.set(nodeKey(node), far.attributes);
    entries.push({ name, node });
    if (one.by !== undefined) inherited.push(one);
  }
  return { entries, attributes, paths: () => pathsOf(inherited) };
}

/** A relationship may have been found more than once, and not each time with the attributes of its far end. */
export function distinct(edges: readonly Edge[]): readonly Edge[] {
  if (edges.length === 1) return edges;
  const found = new Map<string, Edge>();
  for (const edge of edges) {
    const key = `${nodeKey(edge.from)} ${edge.name} ${nodeKey(edge.to)}`;
    if (edge.attributes !== undefined || !found.has(key)) found.set(key, edge);
  }
  return found.size === edges.length ? edges : [...found.values()];
}

/** Whether anything can follow: the first that does, follows from two stored ones. */
function canFollow(edges: readonly Edge[], { inheritances }: Pick<Types, 'inheritances'>): boolean {
  if (edges.length === 0 || inheritances.length === 0) return false;
  const [{ from, to }] = edges as [Edge];
  // One alone: only what ends where it begins may be followed by itself.
  if (edges.length === 1 && (from.id !== to.id || from.type !== to.type)) return false;
  const types = new Set(edges.map(typeOf));
  return inheritances.some(({ through, next }) => types.has(through) && types.has(next));
}

/**
 * All that holds, each once, in the order of length.
 *
 * A way that makes a type of itself twice (groups within groups) adds one step at its end: every relationship by it is a row of
 * those that hold otherwise. Splitting each at all of its places would take the third power of its length.
 */
function deduce(direct: readonly Held[], ways: readonly Inheritance[]): Held[] | TooMuch {
  const waiting: (Held[] | undefined)[] = [undefined, [...direct]]; // by length
  const tooLong: string[] = [];
  let derived = 0;
  const derive = (way: Inheritance, first: Held, second: Held): void => {
    if (++derived > limits.factsDerivedMax) return;
    const one = joined(way, first, second);
    const others = waiting[one.length];
    if (one.length > limits.factsEdgesMax) tooLong.push(one.key);
    else if (others === undefined) waiting[one.length] = [one];
    else others.push(one);
  };
  const known = new Map<string, Held>();
  const [leaving, arriving, steps] = [new Index(), new Index(), new Index()];
  for (let length = 1; length < waiting.length; length++) {
    for (const one of waiting[length] ?? []) {
      if (known.has(one.key)) continue;
      known.set(one.key, one);
      leaving.add(one.type, one.from, one);
      arriving.add(one.type, one.to, one);
      if (!isChain(one.by?.way)) steps.add(one.type, one.from, one);
      for (const way of ways) {
        const seconds = isChain(way) ? steps : leaving;
        if (way.through === one.type) for (const second of seconds.of(way.next, one.to)) derive(way, one, second);
        if (way.next !== one.type || (isChain(way) && isChain(one.by?.way))) continue;
        // A pair of one with itself was found above.
        for (const first of arriving.of(way.through, one.from)) if (first !== one) derive(way, first, one);
      }
      if (derived > limits.factsDerivedMax)
        return `more than ${limits.factsDerivedMax} ways in which two relationships make an inherited one`;
    }
    waiting[length] = undefined;
  }
  if (tooLong.some((key) => !known.has(key)))
    return `an inheritance path that passes more than ${limits.factsEdgesMax} relationships, each as often as it does`;
  return [...known.values()];
}

function isChain(way: Inheritance | undefined): boolean {
  return way !== undefined && way.through === way.makes && way.next === way.makes;
}

class Index {
  readonly #lists = new Map<string, Held[]>();

  of(type: string, node: string): readonly Held[] {
    return this.#lists.get(`${type} ${node}`) ?? [];
  }

  add(type: string, node: string, one: Held): void {
    const key = `${type} ${node}`;
    const list = this.#lists.get(key);
    if (list) list.push(one);
    else this.#lists.set(key, [one]);
  }
}

function stored(edge: Edge): Held {
  const [type, from, to] = [typeOf(edge), nodeKey(edge.from), nodeKey(edge.to)];
  return { key: `${type} ${from} ${to}`, type, from, to, first: edge, last: edge, length: 1 };
}

function joined(way: Inheritance, one: Held, other: Held): Held {
  const [type, from, to] = [way.makes, one.from, other.to];
  return {
    ...{ key: `${type} ${from} ${to}`, type, from, to, first: one.first, last: other.last },
    ...{ length: one.length + other.length, by: { way, parts: [one, other] } },
  };
}

function typeOf({ from, name, to }: Edge): string {
  return `${from.type}:${name}:${to.type}`;
}

function nameOf({ type }: Held): string {
  return type.split(':')[1] as string;
}

/** Where they have more than limits.explainedStepsMax steps together, each has an equal share of its first ones, and counts the others. */
function pathsOf(inherited: readonly Held[]): InheritedPath[] {
  const steps = inherited.reduce((sum, { length }) => sum + length, 0);
  const isCut = steps > limits.explainedStepsMax;
  const stepsMax = isCut ? Math.floor(limits.explainedStepsMax / inherited.length) : limits.factsEdgesMax;
  return inherited.map((one) => {
    const relationship = { from: one.first.from, relationshipType: nameOf(one), to: one.last.to };
    const through = stepsOf(one, stepsMax);
    return { relationship, through, ...(one.length > through.length && { leftOut: one.length - through.length }) };
  });
}

/** At most so many of the stored ones, from the begin. */
function stepsOf(one: Held, most: number): Step[] {
  const steps: Step[] = [];
  const ahead = [one];
  for (let next = ahead.pop(); next !== undefined && steps.length < most; next = ahead.pop()) {
    if (next.by) ahead.push(next.by.parts[1], next.by.parts[0]);
    else steps.push({ from: next.first.from, relationshipType: next.first.name, to: next.first.to });
  }
  return steps;
}
