/**
 * What follows from stored relationships by inheritance, pure. A relationship of type R holds from x to y when it is
 * stored, or when a way of R holds from x over some z to y and both together pass at most so many stored ones. Shorter
 * ones are found before longer ones, so cycles end by themselves.
 */
import { limits } from '../../core/limits.ts';
import type { InheritedPath, Step } from '../../facts/index.ts';
import type { Inheritance, Types } from '../../types/index.ts';
import type { Edge } from './schema.ts';

/** A relationship that holds, and the two that it follows from; without them it is stored. */
type Held = { type: string; from: string; to: string; edge?: Edge; parts?: readonly [Held, Held]; length: number };

type Resolved = {
  /** Those that hold at the root, stored ones first. */
  entries: { name: string; node: Edge['from'] }[];
  inherited: InheritedPath[];
  attributes: ReadonlyMap<string, Record<string, unknown>>;
};

/** No id has a control character. */
export const nodeKey = ({ type, id }: Edge['from']): string => `${type}\0${id}`;

/**
 * The relationships from (or to) the root, out of all stored ones on the paths there.
 * @param isWanted those that matter; all unless given
 * @returns undefined when there are more than a policy may be given
 */
export function resolve(
  side: 'from' | 'to',
  root: Edge['from'],
  edges: readonly Edge[],
  types: Pick<Types, 'inheritances'>,
  isWanted: (name: string, node: Edge['from']) => boolean = () => true,
): Resolved | undefined {
  const at = nodeKey(root);
  const direct = edges.map(stored);
  const held = canFollow(edges, types) ? deduce(direct, types.inheritances) : direct;
  if (held === undefined) return undefined;
  const seen = new Set<string>();
  const result: Resolved & { attributes: Map<string, Record<string, unknown>> } = {
    entries: [],
    inherited: [],
    attributes: new Map(),
  };
  for (const one of held) {
    if (one[side] !== at) continue;
    const key = keyOf(one);
    if (seen.has(key)) continue;
    const [first, last] = [firstOf(one), lastOf(one)];
    const step = { from: first.from, relationshipType: one.type.split(':')[1] as string, to: last.to };
    const far = side === 'from' ? last : first;
    const node = side === 'from' ? far.to : far.from;
    if (!isWanted(step.relationshipType, node)) continue;
    seen.add(key);
    if (seen.size > limits.factsEntriesMax) return undefined;
    if (far.attributes !== undefined) result.attributes.set(nodeKey(node), far.attributes);
    result.entries.push({ name: step.relationshipType, node });
    if (one.parts !== undefined) result.inherited.push({ relationship: step, through: stepsOf(one) });
  }
  return result;
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

/** All that holds, in the order of length. */
function deduce(stored: readonly Held[], inheritances: readonly Inheritance[]): Held[] | undefined {
  const byFrom = new Map<string, Held[]>();
  const byTo = new Map<string, Held[]>();
  const known = new Set<string>();
  const byLength: Held[][] = Array.from({ length: limits.inheritanceDepthMax + 1 }, () => []);
  byLength[1] = [...stored];
  let derived = 0;
  const derive = (makes: string, first: Held, second: Held): void => {
    const length = first.length + second.length;
    if (length > limits.inheritanceDepthMax) return;
    derived++;
    byLength[length]?.push({ type: makes, from: first.from, to: second.to, parts: [first, second], length });
  };
  const all: Held[] = [];
  for (const bucket of byLength) {
    for (const one of bucket) {
      if (known.has(keyOf(one))) continue;
      known.add(keyOf(one));
      all.push(one);
      add(byFrom, `${one.type} ${one.from}`, one);
      add(byTo, `${one.type} ${one.to}`, one);
      for (const { through, next, makes } of inheritances) {
        if (through === one.type)
          for (const second of byFrom.get(`${next} ${one.to}`) ?? []) derive(makes, one, second);
        // A pair of one with itself was found above.
        if (next === one.type)
          for (const first of byTo.get(`${through} ${one.from}`) ?? []) if (first !== one) derive(makes, first, one);
      }
      if (derived > limits.factsDerivedMax) return undefined;
    }
  }
  return all;
}

function stored(edge: Edge): Held {
  return { type: typeOf(edge), from: nodeKey(edge.from), to: nodeKey(edge.to), edge, length: 1 };
}

function typeOf({ from, name, to }: Edge): string {
  return `${from.type}:${name}:${to.type}`;
}

function keyOf({ type, from, to }: Held): string {
  return `${type} ${from} ${to}`;
}

function add(map: Map<string, Held[]>, key: string, one: Held): void {
  const list = map.get(key);
  if (list) list.push(one);
  else map.set(key, [one]);
}

function firstOf(one: Held): Edge {
  return one.parts ? firstOf(one.parts[0]) : (one.edge as Edge);
}

function lastOf(one: Held): Edge {
  return one.parts ? lastOf(one.parts[1]) : (one.edge as Edge);
}

function stepsOf(one: Held): Step[] {
  if (one.parts) return one.parts.flatMap(stepsOf);
  const { from, name, to } = one.edge as Edge;
  return [{ from, relationshipType: name, to }];
}
