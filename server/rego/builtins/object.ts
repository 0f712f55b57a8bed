import type { Meter } from '../budget.ts';
import { identity } from '../compare.ts';
import { type RegoObject, RegoSet, type Value } from '../value.ts';
import { type BuiltinContext, type BuiltinTable, boundResult, itemsOf, objectOf, refuse } from './arguments.ts';
import { bordersOf } from './search.ts';

export const objectBuiltins: BuiltinTable = {
  'object.subset': (context, whole, part) => {
    if (whole instanceof Map || part instanceof Map) return objectHas(context, objectOf(whole), objectOf(part));
    if (part instanceof RegoSet) return setHas(context, itemsOf(whole), part);
    return Array.isArray(whole) && Array.isArray(part) ? arrayHas(context, whole, part) : refuse();
  },
  'graph.reachable_paths': (context, graph, initial) => {
    const walk = new PathWalk(context, objectOf(graph));
    for (const start of itemsOf(initial)) walk.from(start);
    return new RegoSet(walk.paths);
  },
};

/** Every key of `part` is in `whole` with an equal value, or one that has it as a subset of the same kind. */
function objectHas(meter: Meter, whole: RegoObject, part: RegoObject): boolean {
  const index = indexed(meter, whole);
  for (const [key, wanted] of part) {
    const held = index.get(identity(meter, key));
    if (held === undefined || !valueHas(meter, held, wanted)) return false;
  }
  return true;
}

function valueHas(meter: Meter, whole: Value, part: Value): boolean {
  if (whole instanceof Map && part instanceof Map) return objectHas(meter, whole, part);
  if (whole instanceof RegoSet && part instanceof RegoSet) return setHas(meter, whole.items, part);
  if (Array.isArray(whole) && Array.isArray(part)) return arrayHas(meter, whole, part);
  return identity(meter, whole) === identity(meter, part);
}

function setHas(meter: Meter, whole: readonly Value[], part: RegoSet): boolean {
  const held = new Set(whole.map((item) => identity(meter, item)));
  return part.items.every((item) => held.has(identity(meter, item)));
}

/** `part` is a run of neighbours in `whole`: Knuth, Morris and Pratt over identities. */
function arrayHas(meter: Meter, whole: Value[], part: Value[]): boolean {
  if (part.length === 0) return true;
  const wanted = part.map((item) => identity(meter, item));
  const borders = bordersOf(wanted);
  let matched = 0;
  for (const item of whole) {
    const held = identity(meter, item);
    while (matched > 0 && wanted[matched] !== held) matched = borders[matched - 1]!;
    if (wanted[matched] === held) matched++;
    if (matched === wanted.length) return true;
  }
  return false;
}

function indexed(meter: Meter, object: RegoObject): Map<string, Value> {
  return new Map(Array.from(object, ([key, value]) => [identity(meter, key), value]));
}

/** `next` is undefined for a node that only edges name; `size` is the characters of its text. */
type GraphNode = { id: number; value: Value; size: number; next: GraphNode[] | undefined; onPath: boolean };

/**
 * All maximal paths without repeated nodes. There are exponentially many: each step is charged for its path. Nodes are
 * numbered once, because their own text can be long.
 */
class PathWalk {
  readonly #context: BuiltinContext;
  readonly #nodes = new Map<string, GraphNode>();
  readonly #found = new Map<string, Value[]>();
  #chars = 0;

  constructor(context: BuiltinContext, graph: RegoObject) {
    this.#context = context;
    for (const key of graph.keys()) this.#node(key);
    for (const [key, edges] of graph) {
      const items = edges instanceof RegoSet ? edges.items : Array.isArray(edges) ? edges : [];
      this.#node(key).next = items.map((item) => this.#node(item));
    }
  }

  get paths(): Value[] {
    return [...this.#found.values()];
  }

  #node(value: Value): GraphNode {
    const key = identity(this.#context, value);
    let node = this.#nodes.get(key);
    if (node === undefined) {
      node = { id: this.#nodes.size, value, size: key.length, next: undefined, onPath: false };
      this.#nodes.set(key, node);
    }
    return node;
  }

  /** A start that is not in the graph has no path. */
  from(start: Value): void {
    const node = this.#node(start);
    if (node.next !== undefined) this.#visit(node, []);
  }

  #visit(node: GraphNode, before: GraphNode[]): void {
    this.#context.charge(4 + before.length / 4);
    const path = node.next === undefined ? before : [...before, node];
    const next = node.next ?? [];
    if (next.length === 0) this.#end(path);
    node.onPath = true;
    for (const neighbour of next) {
      if (neighbour.onPath) this.#end(path);
      else this.#visit(neighbour, path);
    }
    node.onPath = false;
  }

  #end(path: GraphNode[]): void {
    this.#context.charge(4 + path.length * 2);
    const key = path.map(({ id }) => id).join();
    if (this.#found.has(key)) return;
    for (const { size } of path) this.#chars += size + 1;
    boundResult(this.#chars);
    this.#found.set(
      key,
      path.map(({ value }) => value),
    );
  }
}
