/** Owns object.subset and graph.reachable_paths. */
import { distinct, identity } from '../compare.ts';
import { type RegoObject, RegoSet, type Value } from '../value.ts';
import { type BuiltinContext, type BuiltinTable, itemsOf, objectOf, refuse } from './arguments.ts';
import { bordersOf } from './search.ts';

export const objectBuiltins: BuiltinTable = {
  'object.subset': (_context, whole, part) => {
    if (whole instanceof Map || part instanceof Map) return objectHas(objectOf(whole), objectOf(part));
    if (part instanceof RegoSet) return setHas(itemsOf(whole), part);
    return Array.isArray(whole) && Array.isArray(part) ? arrayHas(whole, part) : refuse();
  },
  'graph.reachable_paths': (context, graph, initial) => {
    const walk = new PathWalk(context, objectOf(graph));
    for (const start of itemsOf(initial)) walk.from(start);
    return distinct(walk.paths);
  },
};

/** Every key of `part` is in `whole` with an equal value, or one that has it as a subset of the same kind. */
function objectHas(whole: RegoObject, part: RegoObject): boolean {
  const index = indexed(whole);
  for (const [key, wanted] of part) {
    const held = index.get(identity(key));
    if (held === undefined || !valueHas(held, wanted)) return false;
  }
  return true;
}

function valueHas(whole: Value, part: Value): boolean {
  if (whole instanceof Map && part instanceof Map) return objectHas(whole, part);
  if (whole instanceof RegoSet && part instanceof RegoSet) return setHas(whole.items, part);
  if (Array.isArray(whole) && Array.isArray(part)) return arrayHas(whole, part);
  return identity(whole) === identity(part);
}

function setHas(whole: readonly Value[], part: RegoSet): boolean {
  const held = new Set(whole.map(identity));
  return part.items.every((item) => held.has(identity(item)));
}

/** `part` is a run of neighbours in `whole`: Knuth, Morris and Pratt over identities. */
function arrayHas(whole: Value[], part: Value[]): boolean {
  if (part.length === 0) return true;
  const wanted = part.map(identity);
  const borders = bordersOf(wanted);
  let matched = 0;
  for (const item of whole) {
    const held = identity(item);
    while (matched > 0 && wanted[matched] !== held) matched = borders[matched - 1]!;
    if (wanted[matched] === held) matched++;
    if (matched === wanted.length) return true;
  }
  return false;
}

function indexed(object: RegoObject): Map<string, Value> {
  return new Map(Array.from(object, ([key, value]) => [identity(key), value]));
}

/** All maximal paths without repeated nodes. There are exponentially many: each step is charged for its path. */
class PathWalk {
  readonly paths: Value[] = [];
  readonly #context: BuiltinContext;
  readonly #graph: Map<string, Value>;

  constructor(context: BuiltinContext, graph: RegoObject) {
    this.#context = context;
    this.#graph = indexed(graph);
  }

  /** A start that is not in the graph has no path. */
  from(start: Value): void {
    if (this.#graph.has(identity(start))) this.#visit(start, [], new Set());
  }

  #visit(node: Value, before: Value[], seen: Set<string>): void {
    this.#context.charge(16 + before.length);
    const key = identity(node);
    const edges = this.#graph.get(key);
    const path = edges === undefined ? before : [...before, node];
    const next = edges instanceof RegoSet ? edges.items : Array.isArray(edges) ? edges : [];
    if (next.length === 0) this.#end(path);
    seen.add(key);
    for (const neighbour of next) {
      if (seen.has(identity(neighbour))) this.#end(path);
      else this.#visit(neighbour, path, seen);
    }
    seen.delete(key);
  }

  #end(path: Value[]): void {
    this.#context.charge(16 + path.length);
    this.paths.push(path);
  }
}
