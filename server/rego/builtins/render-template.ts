/**
 * strings.render_template: the part of Go's text/template that policies use in messages: text, fields
 * ({{.a.b}}, {{$x.y}}), variables, if / else / else if, range / else, with / else, comments and trim markers. Pipelines
 * and functions are refused (undefined), so that nothing renders differently from OPA.
 */
import { numberOf, sortedKeys } from '../compare.ts';
import { NumberText, RegoSet, type Value } from '../value.ts';
import { type BuiltinContext, boundResult, objectOf, refuse } from './arguments.ts';

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'value'; path: Path }
  | { kind: 'block'; keyword: string; names: string[]; path: Path; body: Node[]; otherwise: Node[] };

/** `root` is '' for the dot, '$' or '$name'. */
type Path = { root: string; fields: string[] };

const PATH = /^(\$\w*)?((?:\.[\p{L}_][\p{L}\p{N}_]*)*)$/u;
const RANGE_NAMES = /^(\$\w+)(?:\s*,\s*(\$\w+))?\s*:=\s*/;
const DEPTH_MAX = 50;

/** The variables of the ranges around a node, innermost first. */
type Scope = { name: string; value: Value; outer: Scope | undefined };

/** Renders `template` with an object of variables. Charged per node executed; undefined for what is not supported. */
export function renderTemplate(context: BuiltinContext, template: string, variables: Value): string {
  context.charge(template.length);
  const dot = objectOf(variables);
  const nodes = new Parser(template).parse();
  const renderer = new Renderer(context);
  renderer.render(nodes, dot, { name: '$', value: dot, outer: undefined });
  return renderer.out.join('').replaceAll('<no value>', '<undefined>');
}

class Parser {
  readonly #tokens: { text?: string; action?: string }[] = [];
  #at = 0;

  constructor(template: string) {
    let from = 0;
    let trimNext = false;
    for (let open = template.indexOf('{{'); open >= 0; open = template.indexOf('{{', from)) {
      const close = template.indexOf('}}', open);
      if (close < 0) refuse();
      const action = template.slice(open + 2, close);
      this.#push(template.slice(from, open), trimNext, action.startsWith('- '));
      trimNext = action.length > 2 && action.endsWith(' -');
      this.#tokens.push({ action: action.slice(action.startsWith('- ') ? 2 : 0, trimNext ? -2 : undefined).trim() });
      from = close + 2;
    }
    this.#push(template.slice(from), trimNext, false);
  }

  #push(text: string, trimStart: boolean, trimEnd: boolean): void {
    const start = trimStart ? text.trimStart() : text;
    this.#tokens.push({ text: trimEnd ? start.trimEnd() : start });
  }

  parse(): Node[] {
    const { nodes, end } = this.#nodes(0);
    return end === undefined ? nodes : refuse();
  }

  /** Nodes up to {{end}} or {{else …}}, which is returned, or the end of the template. */
  #nodes(depth: number): { nodes: Node[]; end: string | undefined } {
    if (depth > DEPTH_MAX) refuse();
    const nodes: Node[] = [];
    while (this.#at < this.#tokens.length) {
      const { text, action } = this.#tokens[this.#at++]!;
      if (action === undefined) nodes.push({ kind: 'text', text: text! });
      else if (action === 'end' || /^else\b/.test(action)) return { nodes, end: action };
      else if (!(action.startsWith('/*') && action.endsWith('*/'))) nodes.push(this.#action(action, depth));
    }
    return { nodes, end: undefined };
  }

  #action(action: string, depth: number): Node {
    const [, keyword, argument] = /^(if|range|with)\s+(.*)$/s.exec(action) ?? [];
    if (keyword === undefined) return { kind: 'value', path: parsePath(action) };
    const names = keyword === 'range' ? RANGE_NAMES.exec(argument!) : null;
    const path = parsePath(argument!.slice(names?.[0].length ?? 0));
    const { nodes: body, end } = this.#nodes(depth + 1);
    let otherwise: Node[] = [];
    if (end === 'else') {
      const rest = this.#nodes(depth + 1);
      if (rest.end !== 'end') refuse();
      otherwise = rest.nodes;
    } else if (end !== 'end') {
      const chained = /^else\s+((?:if|with)\s.*)$/s.exec(end ?? '') ?? refuse();
      otherwise = [this.#action(chained[1]!, depth + 1)]; // shares this block's end
    }
    return {
      kind: 'block',
      keyword,
      names: names?.slice(1).filter((name) => name !== undefined) ?? [],
      path,
      body,
      otherwise,
    };
  }
}

function parsePath(text: string): Path {
  const trimmed = text.trim();
  if (trimmed === '.') return { root: '', fields: [] };
  const match = PATH.exec(trimmed);
  if (match === null || trimmed === '') return refuse();
  return { root: match[1] ?? '', fields: match[2]!.split('.').slice(1) };
}

class Renderer {
  readonly out: string[] = [];
  readonly #context: BuiltinContext;
  /** By array, set or object: a template can range over one of them any number of times. */
  readonly #entries = new Map<Value, [Value, Value][]>();
  #length = 0;

  constructor(context: BuiltinContext) {
    this.#context = context;
  }

  render(nodes: Node[], dot: Value, scope: Scope): void {
    for (const node of nodes) {
      this.#context.charge(4);
      if (node.kind === 'text') this.#emit(node.text);
      else if (node.kind === 'value') this.#emit(this.#print(this.#resolve(node.path, dot, scope)));
      else this.#block(node, dot, scope);
    }
  }

  #block(node: Extract<Node, { kind: 'block' }>, dot: Value, scope: Scope): void {
    const value = this.#resolve(node.path, dot, scope);
    if (!this.#truthy(value)) this.render(node.otherwise, dot, scope);
    else if (node.keyword === 'range') this.#range(node, value!, scope);
    else this.render(node.body, node.keyword === 'with' ? value! : dot, scope);
  }

  #range(node: Extract<Node, { kind: 'block' }>, value: Value, outer: Scope): void {
    const [first, second] = node.names;
    for (const [key, item] of this.#entriesOf(value)) {
      this.#context.charge(2);
      let scope = outer;
      if (first !== undefined) scope = { name: first, value: second === undefined ? item : key, outer: scope };
      if (second !== undefined) scope = { name: second, value: item, outer: scope };
      this.render(node.body, item, scope);
    }
  }

  #entriesOf(value: Value): [Value, Value][] {
    let entries = this.#entries.get(value);
    if (entries === undefined) {
      const items = value instanceof Map ? sortedKeys(this.#context, value) : listed(value);
      this.#context.charge(items.length);
      entries = items.map((item, i) => (value instanceof Map ? [item, value.get(item)!] : [i, item]));
      this.#entries.set(value, entries);
    }
    return entries;
  }

  #emit(text: string): void {
    this.#length += text.length;
    boundResult(this.#length);
    this.#context.charge(text.length / 4);
    this.out.push(text);
  }

  #print(value: Value | undefined): string {
    return value === undefined || value === null ? '<no value>' : this.#printed(value);
  }

  /** Go's %v of decoded JSON. */
  #printed(value: Value): string {
    this.#context.charge(1);
    if (value === null) return '<nil>';
    if (value instanceof NumberText) return value.text;
    if (typeof value !== 'object') return String(value);
    const entries = this.#entriesOf(value);
    const text =
      value instanceof Map
        ? `map[${entries.map(([key, item]) => `${this.#printed(key)}:${this.#printed(item)}`).join(' ')}]`
        : `[${entries.map(([, item]) => this.#printed(item)).join(' ')}]`;
    this.#context.charge(text.length / 32); // once for each level that copies it
    return text;
  }

  /** A missing field is undefined; a field of something that is not an object is an error, as in Go. */
  #resolve({ root, fields }: Path, dot: Value, innermost: Scope): Value | undefined {
    let value: Value | undefined = dot;
    if (root !== '') {
      let scope: Scope | undefined = innermost;
      for (; scope !== undefined && scope.name !== root; scope = scope.outer) this.#context.charge(root.length / 16);
      value = scope === undefined ? refuse() : scope.value;
    }
    for (const field of fields) {
      this.#context.charge(1 + field.length / 32); // equal keys are compared throughout
      value = value instanceof Map ? value.get(field) : refuse();
    }
    return value;
  }

  #truthy(value: Value | undefined): boolean {
    if (value instanceof NumberText) return numberOf(this.#context, value) !== 0;
    if (Array.isArray(value)) return value.length > 0;
    if (value instanceof RegoSet) return value.items.length > 0;
    if (value instanceof Map) return value.size > 0;
    return Boolean(value);
  }
}

function listed(value: Value): readonly Value[] {
  return value instanceof RegoSet ? value.items : Array.isArray(value) ? value : refuse();
}
