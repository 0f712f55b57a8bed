/**
 * Which relationships and consents a definition looks for and the input does not have: its loops over them, and what
 * their items are compared with. What it cannot see that a comparison asks for is left open, so a lack is a suggestion
 * until an evaluation with it has allowed.
 */

import { MEMBER } from '../plan/collected.ts';
import { partsOf } from '../plan/parts.ts';
import type { Block, Operand, Statement } from '../plan/source.ts';
import { type Name, resolved } from './names.ts';
import type { TracedProgram } from './program.ts';

/** Where the list is that has no such item. */
type LackOf = 'subject' | 'resource' | 'consents' | 'dataSubjects';
/** By the names of an item's members joined by dots, what they must be: one of these. */
export type Needs = ReadonlyMap<string, readonly unknown[]>;
export type Lack = { readonly of: LackOf; readonly needs: Needs };

const DEPTH_MAX = 4;

/** `negated`: only what negations look for, and the functions that they ask, whatever those are given. */
type Collecting = { rank: number; loops: Map<number, Loop>; depth: number; negated?: boolean };
type Loop = { of: LackOf; needs: Map<string, readonly unknown[]> };
/** A definition of a function, with what its arguments are; `wanted`: what is looked up in what it gives. */
export type Place = { of: number; definition: number; given: readonly Name[]; wanted?: unknown };

export class Lacks {
  readonly #traced: TracedProgram;
  readonly #input: unknown;

  constructor(traced: TracedProgram, input: unknown) {
    this.#traced = traced;
    this.#input = input;
  }

  /** What is looked up in what a function gives, by a definition that calls it. */
  wantedOf(called: number, { of, definition, given }: Place): unknown {
    const { index, names: namesOf } = this.#traced;
    const names = namesOf(of, definition);
    const wanted = new Map<number, unknown>();
    const name = (operand: Operand | undefined) =>
      operand === undefined ? undefined : resolved(names?.of(operand), given);
    const block = index.definitions[of]?.[definition]?.statements ?? [];
    this.#wantedIn(block, name, wanted, (local) => names?.writer(local));
    return [...wanted].find(([local]) => {
      const writer = names?.writer(local);
      return writer?.[0] === 'call' && index.functions.get(writer[1]) === called;
    })?.[1];
  }

  /** Those of a definition whose loops begin before or at a statement; functions that are given an item are part of the loop. */
  upTo(place: Place, rank: number): Lack[] {
    const loops = new Map<number, Loop>();
    this.#collect(place, { rank, loops, depth: DEPTH_MAX });
    return this.#absent(loops);
  }

  /** With which a definition that holds would not: what its negations look for. */
  against(place: Place): Lack[] {
    const loops = new Map<number, Loop>();
    this.#collect(place, { rank: Infinity, loops, depth: DEPTH_MAX, negated: true });
    return this.#absent(loops);
  }

  #absent(loops: ReadonlyMap<number, Loop>): Lack[] {
    return [...loops.values()].filter((loop) => loop.needs.size > 0 && !this.#isThere(loop));
  }

  #collect(place: Place, how: Collecting): void {
    const { rank, loops, depth, negated = false } = how;
    const { index, names: namesOf } = this.#traced;
    const definition = index.definitions[place.of]?.[place.definition];
    const names = namesOf(place.of, place.definition);
    if (definition === undefined || names === undefined || depth === 0) return;
    const name = (operand: Operand | undefined) =>
      operand === undefined ? undefined : resolved(names.of(operand), place.given);
    const note = (of: Name | undefined, values: readonly unknown[] | undefined) => {
      const item = itemOf(of);
      if (item === undefined || values === undefined) return;
      const needs = loops.get(item.scan)?.needs;
      if (needs?.has(item.path) === false) needs.set(item.path, values);
    };
    const wantedIn = new Map<number, unknown>();
    const called = (one: Extract<Statement, ['call', ...unknown[]]>) => {
      const of = index.functions.get(one[1]);
      const given = one[2].slice(2).map((operand) => name(operand) ?? ({ is: 'made', items: undefined } as const));
      if (of === undefined || !(negated || given.some((argument) => loops.has(itemOf(argument)?.scan ?? -1)))) return;
      const inside = { rank: negated ? rank : -1, loops, depth: depth - 1 };
      for (const [number, { kind }] of (index.definitions[of] ?? []).entries())
        if (kind === 'rule') this.#collect({ of, definition: number, given }, inside);
    };
    const look = (one: Statement): void => {
      switch (one[0]) {
        case 'scan': {
          const of = listOf(name(one[1]));
          const isEvery = one[4].some((inner) => index.satisfied.has(inner));
          if (of !== undefined && !isEvery && index.of(one).rank <= rank)
            loops.set(index.number(one), { of, needs: new Map() });
          return;
        }
        case 'equal':
          note(name(one[1]), this.#values(name(one[2])));
          note(name(one[2]), this.#values(name(one[1])));
          return;
        case 'notEqual': // `c.sufficient` by itself
          if (itemOf(name(one[1]))?.path === 'sufficient' && one[2] === false) note(name(one[1]), [true]);
          return;
        case 'call':
          if (one[1] === MEMBER) note(name(one[2][0]), itemsIn(name(one[2][1])));
          else called(one);
          return;
        case 'add':
        case 'append':
          if (wantedIn.has(one[2])) note(name(one[1]), [wantedIn.get(one[2])]);
          if (one === definition.gives && place.wanted !== undefined) note(name(one[1]), [place.wanted]);
          return;
        default:
      }
    };
    this.#wantedIn(definition.statements, name, wantedIn, names.writer);
    const walk = (block: Block, looks: boolean): void => {
      for (const one of block) {
        if (looks) look(one);
        if (one[0] !== 'not') for (const inner of partsOf(one).blocks) walk(inner, looks);
        else if (!looks) walk(one[1], true);
      }
    };
    walk(definition.statements, !negated);
  }

  /** What is looked up in which local: `x in {…}` and `{…}[x]`. */
  #wantedIn(
    block: Block,
    name: (operand: Operand | undefined) => Name | undefined,
    found: Map<number, unknown>,
    writer: (local: number) => Statement | undefined,
  ): void {
    for (const one of block) {
      const [item, list] = one[0] === 'call' && one[1] === MEMBER ? one[2] : one[0] === 'dot' ? [one[2], one[1]] : [];
      const value = item === undefined ? undefined : this.#value(name(item));
      for (let local = list; typeof local === 'number' && value !== undefined; ) {
        found.set(local, value);
        const from = writer(local);
        local = from?.[0] === 'assign' ? from[1] : undefined;
      }
      for (const inner of partsOf(one).blocks) this.#wantedIn(inner, name, found, writer);
    }
  }

  /** A constant, or what the input has at a path. */
  #values(name: Name | undefined): readonly unknown[] | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : [value];
  }

  #value(name: Name | undefined): unknown {
    if (name?.is === 'constant') return name.value;
    if (name?.is !== 'path' || name.root !== 'input') return undefined;
    let found: unknown = this.#input;
    for (const step of name.steps) {
      if (typeof step !== 'string' || typeof found !== 'object' || found === null || !Object.hasOwn(found, step))
        return undefined;
      found = (found as Record<string, unknown>)[step];
    }
    return typeof found === 'object' ? undefined : found;
  }

  #isThere({ of, needs }: Loop): boolean {
    return itemsOf(this.#input, of).every((list) => hasItem(list, needs));
  }
}

export const hasItem = (list: readonly unknown[], needs: Needs): boolean =>
  list.some((item) => [...needs].every(([path, values]) => values.includes(at(item, path))));

function itemsIn(name: Name | undefined): readonly unknown[] | undefined {
  return name?.is === 'made' && name.items?.length !== 0 ? name.items : undefined;
}

/** The loop whose item a path is of, and the path in it. */
function itemOf(name: Name | undefined): { scan: number; path: string } | undefined {
  if (name?.is !== 'path') return undefined;
  const last = name.steps.findLastIndex((step) => typeof step === 'object' && 'scan' in step);
  const [item, rest] = [name.steps[last], name.steps.slice(last + 1)];
  if (typeof item !== 'object' || !('scan' in item) || !rest.every((step) => typeof step === 'string'))
    return undefined;
  return { scan: item.scan, path: rest.join('.') };
}

function listOf(name: Name | undefined): LackOf | undefined {
  if (name?.is !== 'path' || name.root !== 'input') return undefined;
  switch (name.steps.map((step) => (typeof step === 'object' ? '*' : step)).join('/')) {
    case 'graph/subject':
      return 'subject';
    case 'graph/resource':
      return 'resource';
    case 'consents':
      return 'consents';
    case 'dataSubjects/*/consents':
      return 'dataSubjects';
    default:
      return undefined;
  }
}

/** The lists of which each must have such an item. */
function itemsOf(input: unknown, of: LackOf): unknown[][] {
  const listAt = (value: unknown, path: string): unknown[] => {
    const list = at(value, path);
    return Array.isArray(list) ? list : [];
  };
  if (of === 'dataSubjects') return listAt(input, 'dataSubjects').map((one) => listAt(one, 'consents'));
  return [listAt(input, of === 'consents' ? 'consents' : `graph.${of}`)];
}

export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path === '' ? [] : path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}
