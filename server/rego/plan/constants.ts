/**
 * Which locals of a plan hold a constant list of strings wherever they are read: sets and arrays that are written out in the
 * policy, and rules that are one. `r.type in {"owner", "admin"}` compares with such a list.
 */
import { nameOf } from './origins.ts';
import { partsOf } from './parts.ts';
import type { Block, PlanFunction, Statement } from './source.ts';

export type ConstantList = { readonly kind: 'set' | 'array'; readonly items: readonly string[] };
export type Constants = ReadonlyMap<number, ConstantList>;

/**
 * The constant lists among the locals of a block.
 * @param writes of that block
 * @param resultOf the constant list that a rule always is, by its function's name
 */
export function constantsOf(
  block: Block,
  writes: ReadonlyMap<number, number>,
  strings: readonly string[],
  resultOf: (name: string) => ConstantList | undefined,
): Constants {
  const found = new Map<number, ConstantList>();
  const once = (local: number) => writes.get(local) === 1;
  const look = (statements: Block, at: number): void => {
    const statement = statements[at] as Statement;
    const [kind] = statement;
    if (kind === 'set' || kind === 'array') {
      const items = addedAfter(statements, at, statement[1], strings);
      // Nothing else is added anywhere, so whoever reads it reads all of it.
      if (writes.get(statement[1]) === items.length + 1) found.set(statement[1], { kind, items });
    } else if (kind === 'assign' && typeof statement[1] === 'number' && once(statement[2])) {
      const list = found.get(statement[1]);
      if (list !== undefined) found.set(statement[2], list);
    } else if (kind === 'call' && once(statement[3])) {
      const list = resultOf(statement[1]);
      if (list !== undefined) found.set(statement[3], list);
    }
    for (const inner of partsOf(statement).blocks) for (const i of inner.keys()) look(inner, i);
  };
  for (const i of block.keys()) look(block, i);
  return found;
}

/** The constants that are added to a container by the statements right behind the one that makes it. */
function addedAfter(block: Block, at: number, container: number, strings: readonly string[]): string[] {
  const items: string[] = [];
  for (const statement of block.slice(at + 1)) {
    const [kind] = statement;
    if ((kind !== 'add' && kind !== 'append') || statement[2] !== container) break;
    const item = nameOf(statement[1], strings);
    if (item === undefined) break;
    items.push(item);
  }
  return items;
}

/** The constant list that a rule is whatever the input is, found by running it; undefined when it does anything else. */
export function constantResult(rule: PlanFunction, strings: readonly string[]): ConstantList | undefined {
  const held = new Map<number, { kind: 'set' | 'array'; items: string[] }>();
  for (const block of rule.blocks) {
    for (const statement of block) {
      const done = step(statement, held, strings);
      if (done === 'unknown') return undefined;
      if (done === 'undefined') break;
    }
  }
  return held.get(rule.return);
}

type Held = Map<number, { kind: 'set' | 'array'; items: string[] }>;

function step(statement: Statement, held: Held, strings: readonly string[]): 'done' | 'undefined' | 'unknown' {
  switch (statement[0]) {
    case 'reset':
      held.delete(statement[1]);
      return 'done';
    case 'set':
    case 'array':
      held.set(statement[1], { kind: statement[0], items: [] });
      return 'done';
    case 'add':
    case 'append': {
      const [item, list] = [nameOf(statement[1], strings), held.get(statement[2])];
      if (item === undefined || list === undefined) return 'unknown';
      list.items.push(item);
      return 'done';
    }
    case 'assign':
    case 'assignOnce': {
      const list = typeof statement[1] === 'number' ? held.get(statement[1]) : undefined;
      if (list === undefined || (statement[0] === 'assignOnce' && held.has(statement[2]))) return 'unknown';
      held.set(statement[2], list);
      return 'done';
    }
    case 'isDefined':
      return held.has(statement[1]) ? 'done' : 'undefined';
    case 'isUndefined':
      return held.has(statement[1]) ? 'undefined' : 'done';
    case 'return':
    case 'nop':
      return 'done';
    default:
      return 'unknown';
  }
}
