/**
 * The statements of the product as their sources have them: each `sql` template with the fragments that its file, or one that it
 * imports from, puts into it. What is only known when it runs is a `$`; of a condition both ways are read.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'vite';

type Node = ESTree.Node;
type Scope = { names: Map<string, Bound>; source: Source; outer?: Scope };
/** `nth`: an element of what the node is. */
type Bound = { node: Node; scope: Scope; nth?: number };
type Declared = { name: string; node: Node; nth?: number; from: number; to: number };
type Source = {
  file: string;
  text: string;
  program: ESTree.Program;
  declared: Declared[];
  imports: Map<string, string>;
};

/** `at`: where a piece of the text begins, and where that stands. */
export type Statement = { text: string; pieces: { at: number; file: string; offset: number }[] };

const sources = new Map<string, Source>();

function sourceOf(root: string, file: string): Source {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, file), 'utf8');
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const source: Source = { file, text, program, declared: [], imports: new Map() };
  sources.set(file, source);
  collect(source);
  return source;
}

/** What is declared, each with the part of the text that sees it. */
function collect(source: Source): void {
  const blocks: Node[] = [source.program];
  const open = (node: Node) => void blocks.push(node);
  const close = () => void blocks.pop();
  const declare = (name: string, node: Node, nth?: number, block = blocks.at(-1) as Node) =>
    source.declared.push({ name, node, from: block.start, to: block.end, ...(nth !== undefined && { nth }) });
  new Visitor({
    BlockStatement: open,
    'BlockStatement:exit': close,
    FunctionDeclaration: (node) => void (node.id && declare(node.id.name, node)),
    VariableDeclarator({ id, init }) {
      if (init === null) return;
      if (id.type === 'Identifier') declare(id.name, init);
      if (id.type !== 'ArrayPattern') return;
      for (const [nth, one] of id.elements.entries()) if (one?.type === 'Identifier') declare(one.name, init, nth);
    },
    ImportDeclaration(node) {
      if (!node.source.value.startsWith('.')) return;
      const from = join(dirname(source.file), node.source.value);
      for (const one of node.specifiers) source.imports.set(one.local.name, from);
    },
  }).visit(source.program);
}

export class Reader {
  readonly #root: string;
  readonly #way: 0 | 1;
  /** Templates that others are made of. */
  readonly used = new Set<Node>();
  constructor(root: string, way: 0 | 1) {
    this.#root = root;
    this.#way = way;
  }

  /** Each template of a file, and each text that looks like a statement. */
  *read(file: string): Generator<{ node: Node; statement: Statement }> {
    const source = sourceOf(this.#root, file);
    const found: Node[] = [];
    const add = (node: Node) => void found.push(node);
    new Visitor({ TaggedTemplateExpression: add, TemplateLiteral: add, Literal: add }).visit(source.program);
    const tagged = new Set(found.map((node) => (node.type === 'TaggedTemplateExpression' ? node.quasi : undefined)));
    for (const node of found) {
      const isTemplate = isSql(node);
      const text = source.text.slice(node.start, node.end);
      if (!isTemplate && (tagged.has(node as never) || !/\bselect\b[\s\S]*\bfrom\b/.test(text))) continue;
      const statement: Statement = { text: '', pieces: [] };
      const scope = { names: new Map(), source };
      if (node.type === 'Literal') append(statement, source, text, node.start);
      else this.#expand(statement, node.type === 'TemplateLiteral' ? node : quasiOf(node), scope, 0);
      yield { node, statement };
    }
  }

  #expand(into: Statement, { quasis, expressions }: ESTree.TemplateLiteral, scope: Scope, depth: number): void {
    for (const [i, { value, start }] of quasis.entries()) {
      append(into, scope.source, value.raw, start);
      const expression = expressions[i];
      if (expression !== undefined) this.#fill(into, { node: expression, scope }, depth + 1);
    }
  }

  #fill(into: Statement, bound: Bound, depth: number): void {
    const found = depth > 12 ? undefined : this.#resolve(bound, depth);
    if (found === undefined || !isSql(found.node)) {
      append(into, bound.scope.source, ' $ ', bound.node.start);
      return;
    }
    this.used.add(found.node);
    this.#expand(into, quasiOf(found.node), found.scope, depth);
  }

  /** The template, function or list that an expression is. */
  #resolve({ node, scope, nth }: Bound, depth: number): Bound | undefined {
    if (depth > 24) return undefined;
    const next = (other: Bound) => this.#resolve({ ...other, ...(nth !== undefined && { nth }) }, depth + 1);
    if (node.type === 'ArrayExpression' && nth !== undefined) {
      const one = node.elements[nth];
      return one ? this.#resolve({ node: one, scope }, depth + 1) : undefined;
    }
    switch (node.type) {
      case 'Identifier': {
        const found = this.#look(node.name, node.start, scope);
        if (found === undefined) return undefined;
        if (found.nth === undefined) return next(found);
        const one = this.#resolve(found, depth + 1);
        return one && next(one);
      }
      case 'ConditionalExpression':
        return next({ node: this.#way === 0 ? node.consequent : node.alternate, scope });
      case 'TSAsExpression':
      case 'ParenthesizedExpression':
      case 'AwaitExpression':
        return next({ node: 'expression' in node ? node.expression : node.argument, scope });
      case 'CallExpression': {
        const called = this.#resolve({ node: node.callee, scope }, depth + 1);
        const result = called && this.#result(called, node.arguments, scope);
        return result && next(result);
      }
      default:
        return { node, scope };
    }
  }

  /** What a function returns; of several, one for each way. */
  #result({ node, scope }: Bound, given: readonly Node[], caller: Scope): Bound | undefined {
    if (node.type !== 'ArrowFunctionExpression' && node.type !== 'FunctionDeclaration') return undefined;
    const inner: Scope = { names: new Map(), source: scope.source, outer: scope };
    for (const [i, param] of node.params.entries()) {
      const [name, byDefault] = param.type === 'AssignmentPattern' ? [param.left, param.right] : [param, undefined];
      if (name.type !== 'Identifier') continue;
      const value = given[i];
      if (value !== undefined) inner.names.set(name.name, { node: value, scope: caller });
      else if (byDefault !== undefined) inner.names.set(name.name, { node: byDefault, scope: inner });
    }
    if (node.body === null) return undefined;
    if (node.body.type !== 'BlockStatement') return { node: node.body, scope: inner };
    const returned = node.body.body.flatMap((one) =>
      one.type === 'ReturnStatement' && one.argument ? [one.argument] : [],
    );
    const one = returned[Math.min(this.#way, returned.length - 1)];
    return one && { node: one, scope: inner };
  }

  #look(name: string, at: number, scope: Scope): Bound | undefined {
    for (let one: Scope | undefined = scope; one !== undefined; one = one.outer) {
      const bound = one.names.get(name);
      if (bound !== undefined) return bound;
    }
    const { source } = scope;
    const seen = source.declared.filter((one) => one.name === name && one.from <= at && at <= one.to);
    const nearest = seen.toSorted((a, b) => a.to - a.from - (b.to - b.from))[0];
    if (nearest !== undefined) return { ...nearest, scope };
    const from = source.imports.get(name);
    if (from === undefined || !from.endsWith('.ts')) return undefined;
    const other = sourceOf(this.#root, from);
    const exported = other.declared.find((one) => one.name === name && one.from === other.program.start);
    return exported && { ...exported, scope: { names: new Map(), source: other } };
  }
}

const isSql = (node: Node): boolean =>
  node.type === 'TaggedTemplateExpression' && node.tag.type === 'Identifier' && node.tag.name === 'sql';
const quasiOf = (node: Node) => (node as ESTree.TaggedTemplateExpression).quasi;

function append(into: Statement, { file }: Source, text: string, offset: number): void {
  into.pieces.push({ at: into.text.length, file, offset });
  into.text += text;
}

/** The file and line of a place of a statement. */
export function placeOf(root: string, { pieces }: Statement, at: number): { file: string; line: number; text: string } {
  const piece = pieces.findLast((one) => one.at <= at) as Statement['pieces'][0];
  const { file } = piece;
  const whole = sources.get(file)?.text ?? readFileSync(join(root, file), 'utf8');
  const offset = piece.offset + (at - piece.at);
  const line = whole.slice(0, offset).split('\n').length;
  return { file, line, text: whole.split('\n')[line - 1] as string };
}
