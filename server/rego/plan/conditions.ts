/**
 * What an entry of input.graph must be before a policy can see it: the conditions at the beginning of a scan's body, before
 * anything that can be seen outside of the iteration. A condition compares the entry's name, or its far end's type or id, with a
 * constant, with one of several, or with the request's subject or resource; a function of the policy that is given the entry has
 * the conditions of its own body. An entry that fails them leaves no trace.
 */
import { limits } from '../../core/limits.ts';
import type { GraphTerm, GraphUse } from '../schema.ts';
import { type Bodies, type Body, clausesOf, type Routine } from './bodies.ts';
import { Collected, MEMBER, termOf } from './collected.ts';
import { type Origin, type Origins, only, originsOf, type Side } from './origins.ts';
import { partsOf, readCounts } from './parts.ts';
import type { Block, Operand, Statement } from './source.ts';

/** In a function, the number of the entry that its caller is at. */
const GIVEN = -1;
/** Functions that are given an entry by functions that are given it. */
const DEPTH_MAX = 4;

/** Statements that change nothing but a local. */
const traceless = new Set<Statement[0]>([
  ...(['nop', 'dot', 'assign', 'equal', 'notEqual', 'isDefined', 'isUndefined'] as const),
  ...(['isArray', 'isObject', 'isSet', 'null', 'integer', 'number', 'reset', 'set', 'array'] as const),
]);

type Member = 'name' | 'type' | 'id';
/** A straight run of statements, and the entry that is looked for in it; `stays`: whether a local is read in it only. */
type Run = {
  statements: Block;
  body: Body;
  routine: Routine;
  origins: Origins;
  entry: number;
  stays: (local: number) => boolean;
};

export class Conditions {
  readonly #bodies: Bodies;
  readonly #collectedIn: Collected;
  readonly #given = new Map<string, GraphUse[]>();

  constructor(bodies: Bodies) {
    this.#bodies = bodies;
    this.#collectedIn = new Collected(bodies);
  }

  /** What a scan of a side, in a body, sees: entries that are as one of these. `[{}]` is every entry. */
  ofScan(scan: { number: number; statements: Block; side: Side }, body: Body, routine: Routine): GraphUse[] {
    const { number: entry, statements } = scan;
    const inside = readCounts(statements);
    const stays = (local: number) => (inside.get(local) ?? 0) === (body.reads.get(local) ?? 0);
    return this.#usesOf({ statements, body, routine, origins: body.origins, entry, stays }, scan.side, 0);
  }

  #usesOf(run: Run, side: Side, depth: number): GraphUse[] {
    let uses: GraphUse[] = [{}];
    for (const [i, statement] of run.statements.entries()) {
      const isLast = i === run.statements.length - 1;
      const tested =
        this.#compared(statement, run) ??
        this.#member(statement, run.statements[i + 1], run) ??
        (isLast ? this.#collected(statement, run) : undefined) ??
        this.#inFunction(statement, run, side, depth);
      if (tested === undefined && !this.#isTraceless(statement, run)) break;
      if (!partsOf(statement).writes.every((local) => run.stays(local) || isLast)) break;
      if (tested !== undefined) uses = both(uses, tested);
    }
    return uses;
  }

  #isTraceless(statement: Statement, { body: { constants } }: Run): boolean {
    if (traceless.has(statement[0])) return true;
    // A constant list is made anew by each iteration.
    if (statement[0] === 'add' || statement[0] === 'append') return constants.has(statement[2]);
    return statement[0] === 'call' && (statement[1] === MEMBER || constants.has(statement[3]));
  }

  /** `r.type == "owner"`, `r.to.id == input.resource.id` */
  #compared(statement: Statement, run: Run): GraphUse[] | undefined {
    if (statement[0] !== 'equal') return undefined;
    const [, a, b] = statement;
    const term = (operand: Operand) => termOf(operand, run.origins, this.#bodies.plan.strings);
    return is(a, [term(b)], run) ?? is(b, [term(a)], run);
  }

  /** `r.type in {"owner", "admin"}`, `r.type in roles`, `roles[r.type]` */
  #member(statement: Statement, next: Statement | undefined, run: Run): GraphUse[] | undefined {
    const asked = membership(statement, next);
    const list = asked && run.body.constants.get(asked.list);
    if (list === undefined || (statement[0] === 'dot' && list.kind !== 'set')) return undefined;
    const member = memberOf(asked?.item ?? false, run);
    return member && list.items.map((literal) => useOf(member, { literal }));
  }

  /** The last thing that the scan does is to add to a list, of which nothing is ever asked but whether it holds some ids. */
  #collected(statement: Statement, run: Run): GraphUse[] | undefined {
    const [, item] = statement;
    const terms = this.#collectedIn.askedAfter(statement, run.body, run.routine);
    return terms && is(item as Operand, terms, run);
  }

  /** `to_resource(r) if r.to.id == input.resource.id`: what each body of the function asks first. */
  #inFunction(statement: Statement, run: Run, side: Side, depth: number): GraphUse[] | undefined {
    if (statement[0] !== 'call' || depth === DEPTH_MAX) return undefined;
    const called = this.#bodies.functions.get(statement[1]);
    if (called === undefined) return undefined;
    const given = statement[2].map((operand) => this.#handedOn(operand, run));
    if (!given.some((origin) => origin.endsWith(`#${GIVEN}`))) return undefined;
    const key = JSON.stringify([statement[1], side, depth, given]);
    const uses = this.#given.get(key) ?? this.#ofFunction(called, given, side, depth + 1);
    this.#given.set(key, uses);
    return uses.some((use) => Object.keys(use).length === 0) ? undefined : uses;
  }

  #ofFunction(called: Routine, given: readonly Origin[], side: Side, depth: number): GraphUse[] {
    const clauses = clausesOf(called);
    if (clauses === undefined) return [{}];
    return clauses.flatMap((body) => {
      const { strings } = this.#bodies.plan;
      const origins = originsOf(body.statements, called.params, strings, { origins: given, scan: GIVEN, side });
      const run = { statements: body.block, body, routine: called, origins, entry: GIVEN, stays: () => true };
      return this.#usesOf(run, side, depth);
    });
  }

  /** What an argument is in the function that gets it. */
  #handedOn(operand: Operand, { origins, entry }: Run): Origin {
    if (Array.isArray(operand)) return `literal.${operand[0]}`;
    const origin = only(operand, origins) ?? 'other';
    const [kind, number] = origin.split('#');
    if (number === undefined) return /^(input$|entity\.|term\.|literal\.)/.test(origin) ? origin : 'other';
    return number === String(entry) && kind !== 'key' ? (`${kind}#${GIVEN}` as Origin) : 'other';
  }
}

/** The condition that a part of the entry is one of these. */
function is(operand: Operand, terms: readonly (GraphTerm | undefined)[], run: Run): GraphUse[] | undefined {
  const member = memberOf(operand, run);
  if (member === undefined || !terms.every((term) => term !== undefined)) return undefined;
  if (member === 'name' && !terms.every((term) => 'literal' in term)) return undefined;
  return terms.map((term) => useOf(member, term));
}

/** Which part of the run's entry an operand surely is. */
function memberOf(operand: Operand, { origins, entry }: Run): Member | undefined {
  const [part, number] = (only(operand, origins) ?? '').split('#');
  return number === String(entry) && (part === 'name' || part === 'type' || part === 'id') ? part : undefined;
}

function useOf(member: Member, term: GraphTerm): GraphUse {
  if (member !== 'name') return { [member]: term };
  return 'literal' in term ? { name: term.literal } : {};
}

/** Entries as one of the first and as one of the second; where that would be too many, as one of the first. */
function both(uses: readonly GraphUse[], more: readonly GraphUse[]): GraphUse[] {
  if (uses.length * more.length > limits.narrowedUsesMax) return [...uses];
  return uses.flatMap((use) => more.map((other) => ({ ...other, ...use })));
}

/** The item and the list of a membership that the next statement asks to hold. */
function membership(statement: Statement, next: Statement | undefined): { item: Operand; list: number } | undefined {
  // A look-up in a set fails by itself.
  if (statement[0] === 'dot')
    return typeof statement[1] === 'number' ? { item: statement[2], list: statement[1] } : undefined;
  if (statement[0] !== 'call' || statement[1] !== MEMBER || next?.[0] !== 'notEqual') return undefined;
  const [item, list] = statement[2];
  const holds = next.includes(statement[3]) && next.includes(false);
  return holds && typeof list === 'number' && item !== undefined ? { item, list } : undefined;
}
