/**
 * Lists of ids of which nothing is ever asked but whether they hold one: `input.resource.id in {r.to.id | …}`, and rules that are
 * such a set, array or object (`ids contains r.to.id if …`, `owners[r.to.id] if …`). Items that nobody asks for might as well not
 * be in them. Whatever else is done with a list, or may be, makes it one of which all items count.
 */
import type { GraphTerm } from '../schema.ts';
import { type Bodies, type Body, clausesOf, type Routine } from './bodies.ts';
import { nameOf, type Origins, only } from './origins.ts';
import { partsOf } from './parts.ts';
import type { Operand, Statement } from './source.ts';

export const MEMBER = 'internal.member_2';

type Kind = 'set' | 'array' | 'object';
/** What a list is asked for: by membership of its values, or by a look-up. */
type Asked = { term: GraphTerm; by: 'value' | 'key' };

/** What the statements that add to a list are; an object's values are all true, so that no two of them are in conflict. */
const adds: Record<Kind, (statement: Statement) => boolean> = {
  set: ([kind]) => kind === 'add',
  array: ([kind]) => kind === 'append',
  object: (statement) => statement[0] === 'insertOnce' && statement[2] === true,
};
const answers: Record<Kind, readonly Asked['by'][]> = { set: ['value', 'key'], array: ['value'], object: ['key'] };

export class Collected {
  readonly #bodies: Bodies;
  readonly #ofLists = new Map<Body | Routine, Map<number, readonly GraphTerm[] | undefined>>();
  readonly #ofRules = new Map<string, readonly Asked[] | undefined>();
  #callers: ReadonlyMap<string, readonly Call[]> | undefined;

  constructor(bodies: Bodies) {
    this.#bodies = bodies;
  }

  /** Of a statement that adds an item to a list: what the list is asked for; undefined when it is for anything else, too. */
  askedAfter(statement: Statement, body: Body, routine: Routine): readonly GraphTerm[] | undefined {
    const list = listOf(statement);
    if (list === undefined) return undefined;
    // The list that is a rule's result has a number in all bodies of the rule, any other in its own body.
    const where = list === routine.function?.return ? routine : body;
    const known = this.#ofLists.get(where) ?? new Map();
    this.#ofLists.set(where, known);
    if (!known.has(list)) known.set(list, this.#ofList(list, body, routine));
    return known.get(list);
  }

  #ofList(list: number, body: Body, routine: Routine): readonly GraphTerm[] | undefined {
    const isResult = list === routine.function?.return;
    const places = isResult ? routine.bodies : [body];
    const touching = places.flatMap((one) => touches(list, one));
    const kind = touching.map(([made]) => made).find((made) => made === 'set' || made === 'array' || made === 'object');
    if (kind === undefined || touching.filter(([made]) => made === kind).length !== 1) return undefined;
    const others = touching.filter((one) => one[0] !== kind && !(adds[kind](one) && isAddedTo(one, list)));
    if (others.some((one) => partsOf(one).writes.includes(list))) return undefined;
    // A list that another body sees is a rule's own.
    if (!isResult && body.reads.get(list) === Number.POSITIVE_INFINITY) return undefined;
    const asked = isResult
      ? others.every(([one]) => one === 'return') && this.#ofRule(routine)
      : joined(others.map((one) => this.#askedBy(one, list, body, routine)));
    if (!asked || asked.length === 0 || !asked.every(({ by }) => answers[kind].includes(by))) return undefined;
    return asked.map(({ term }) => term);
  }

  /** What the value of a local is asked for by one statement. */
  #askedBy(statement: Statement, local: number, body: Body, routine: Routine): readonly Asked[] | undefined {
    switch (statement[0]) {
      case 'assign':
        return this.#ofValue(statement[2], body, routine);
      case 'call': {
        const [item, list] = statement[2];
        return statement[1] === MEMBER && list === local ? this.#asked(item, 'value', body) : undefined;
      }
      case 'dot':
        return statement[1] === local ? this.#asked(statement[2], 'key', body) : undefined;
      case 'assignOnce':
        return isOnlyResult(statement, body, routine) ? this.#ofRule(routine) : undefined;
      default:
        return undefined;
    }
  }

  /** What a value is asked for after the statement that writes it to a local. */
  #ofValue(local: number, body: Body, routine: Routine): readonly Asked[] | undefined {
    const readers = body.readers.get(local) ?? [];
    if (body.writes.get(local) !== 1 || body.reads.get(local) !== readers.length) return undefined;
    return joined(readers.map((one) => this.#askedBy(one, local, body, routine)));
  }

  #asked(item: Operand | undefined, by: Asked['by'], { origins }: Body): Asked[] | undefined {
    const term = item === undefined ? undefined : termOf(item, origins, this.#bodies.plan.strings);
    return term && [{ term, by }];
  }

  /** What the result of a function is asked for by everybody who calls it. */
  #ofRule({ function: called }: Routine): readonly Asked[] | undefined {
    if (called === undefined) return undefined;
    if (!this.#ofRules.has(called.name)) {
      this.#ofRules.set(called.name, undefined); // until it is known: nothing calls itself
      this.#callers ??= callersIn(this.#bodies);
      const calls = this.#callers.get(called.name) ?? [];
      const asked = calls.map(({ result, body, routine }) => this.#ofValue(result, body, routine));
      this.#ofRules.set(called.name, joined(asked));
    }
    return this.#ofRules.get(called.name);
  }
}

/** What an operand is for an entry to be compared with: a constant, or the request's subject or resource. */
export function termOf(operand: Operand, origins: Origins, strings: readonly string[]): GraphTerm | undefined {
  const literal = nameOf(operand, strings);
  if (literal !== undefined) return { literal };
  const [kind, of, member] = (only(operand, origins) ?? '').split('.');
  if (kind === 'literal') return { literal: strings[Number(of)] as string };
  return kind === 'term' ? ({ of, member } as GraphTerm) : undefined;
}

type Call = { result: number; body: Body; routine: Routine };

/** Who calls each function; nobody knows of any where one is called by a path that is worked out. */
function callersIn({ routines, functions }: Bodies): ReadonlyMap<string, readonly Call[]> {
  const callers = new Map<string, Call[]>();
  for (const routine of routines) {
    for (const body of routine.bodies) {
      for (const { statement } of body.statements) {
        if (statement[0] === 'dynamic') return new Map();
        if (statement[0] !== 'call' || !functions.has(statement[1])) continue;
        const calls = callers.get(statement[1]) ?? [];
        callers.set(statement[1], calls);
        calls.push({ result: statement[3], body, routine });
      }
    }
  }
  return callers;
}

/** The list that a statement adds an item to. */
function listOf(statement: Statement): number | undefined {
  if (statement[0] === 'add' || statement[0] === 'append') return statement[2];
  return statement[0] === 'insertOnce' ? statement[3] : undefined;
}

/** Whether a statement adds to a list, and not the list itself to one. */
function isAddedTo(statement: Statement, list: number): boolean {
  return listOf(statement) === list && statement[1] !== list;
}

/** The statements that make, change or read what a local holds. */
function touches(local: number, { readers, writers }: Body): Statement[] {
  return [...new Set([...(writers.get(local) ?? []), ...(readers.get(local) ?? [])])];
}

/**
 * Whether a statement gives a rule its value, and nothing else does, not even the same statement again: two values that differ are
 * an error, of which fewer entries might be no longer any.
 */
function isOnlyResult(statement: Statement, body: Body, routine: Routine): boolean {
  const [clause, ...others] = clausesOf(routine) ?? [];
  if (clause !== body || others.length > 0 || statement[0] !== 'assignOnce') return false;
  const [reset] = body.block;
  const isHeld = reset?.[0] === 'reset' && reset[1] === statement[2] && body.writes.get(reset[1]) === 2;
  return isHeld && !body.statements.some((one) => one.statement === statement && one.within.length > 0);
}

/** All of them, unless one is not known; of none, nothing is known. */
function joined(parts: readonly (readonly Asked[] | undefined)[]): readonly Asked[] | undefined {
  return parts.length > 0 && parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}
