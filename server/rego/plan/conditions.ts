/**
 * What an entry of input.graph must be before a policy can see it: the conditions at the beginning of a scan's body, before
 * anything that can be seen outside of the iteration. A condition compares the entry's name, or its far end's type or id, with a
 * constant, with one of several, or with the request's subject or resource; a function of the policy that is given the entry has
 * the conditions of its own body. An entry that fails them leaves no trace.
 */
import { limits } from '../../core/limits.ts';
import type { GraphTerm, GraphUse } from '../schema.ts';
import { type ConstantList, type Constants, constantResult, constantsOf, writeCounts } from './constants.ts';
import { nameOf, type Origin, type Origins, only, originsOf, placed, type Side } from './origins.ts';
import { partsOf, readCounts } from './parts.ts';
import type { Block, Operand, PlanFunction, PlanSource, Statement } from './source.ts';

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
type Counts = ReadonlyMap<number, number>;
/** Of a body: its locals are numbered anew in each, but for those that pass something on to the next. */
type Locals = {
  reads: Counts;
  writes: Counts;
  readers: ReadonlyMap<number, readonly Statement[]>;
  constants: Constants;
};
/** A straight run of statements, and the entry that is looked for in it; `stays`: whether a local is read in it only. */
type Run = { body: Block; locals: Locals; origins: Origins; entry: number; stays: (local: number) => boolean };

export class Conditions {
  readonly #plan: PlanSource;
  readonly #functions: ReadonlyMap<string, PlanFunction>;
  readonly #locals = new Map<Block, Locals>();
  readonly #passedOn = new Map<readonly Block[], ReadonlySet<number>>();
  readonly #results = new Map<string, ConstantList | undefined>();
  readonly #given = new Map<string, GraphUse[]>();

  constructor(plan: PlanSource) {
    this.#plan = plan;
    this.#functions = new Map(plan.functions.map((one) => [one.name, one]));
  }

  /**
   * What a scan of a side sees: entries that are as one of these. `[{}]` is every entry.
   * @param within the body of a rule that the scan is in @param all bodies of that rule
   */
  ofScan(
    scan: { number: number; body: Block; side: Side },
    within: Block,
    all: readonly Block[],
    origins: Origins,
  ): GraphUse[] {
    const locals = this.#localsOf(within, all);
    const inside = readCounts(scan.body);
    const stays = (local: number) => (inside.get(local) ?? 0) === (locals.reads.get(local) ?? 0);
    return this.#usesOf({ body: scan.body, locals, origins, entry: scan.number, stays }, scan.side, 0);
  }

  #usesOf(run: Run, side: Side, depth: number): GraphUse[] {
    let uses: GraphUse[] = [{}];
    for (const [i, statement] of run.body.entries()) {
      const isLast = i === run.body.length - 1;
      const tested =
        this.#compared(statement, run) ??
        this.#member(statement, run.body[i + 1], run) ??
        (isLast ? this.#collected(statement, run) : undefined) ??
        this.#inFunction(statement, run, side, depth);
      if (tested === undefined && !this.#isTraceless(statement, run)) break;
      if (!partsOf(statement).writes.every((local) => run.stays(local) || isLast)) break;
      if (tested !== undefined) uses = both(uses, tested);
    }
    return uses;
  }

  #isTraceless(statement: Statement, { locals: { constants } }: Run): boolean {
    if (traceless.has(statement[0])) return true;
    // A constant list is made anew by each iteration.
    if (statement[0] === 'add' || statement[0] === 'append') return constants.has(statement[2]);
    return statement[0] === 'call' && (statement[1] === MEMBER || constants.has(statement[3]));
  }

  /** `r.type == "owner"`, `r.to.id == input.resource.id` */
  #compared(statement: Statement, run: Run): GraphUse[] | undefined {
    if (statement[0] !== 'equal') return undefined;
    const [, a, b] = statement;
    return this.#is(a, [b], run) ?? this.#is(b, [a], run);
  }

  /** `r.type in {"owner", "admin"}`, `r.type in roles`, `roles[r.type]` */
  #member(statement: Statement, next: Statement | undefined, run: Run): GraphUse[] | undefined {
    const asked = membership(statement, next);
    const list = asked && run.locals.constants.get(asked.list);
    if (list === undefined || (statement[0] === 'dot' && list.kind !== 'set')) return undefined;
    const member = memberOf(asked?.item ?? false, run);
    return member && list.items.map((literal) => useOf(member, { literal }));
  }

  /**
   * `input.resource.id in {r.to.id | some r in input.graph.subject}`: the last thing that the scan does is to add to a list, of which
   * nothing is ever asked but whether it holds the id. Entries with another id might as well not be in it.
   */
  #collected(statement: Statement, run: Run): GraphUse[] | undefined {
    if (statement[0] !== 'add' && statement[0] !== 'append') return undefined;
    const item = askedOf(statement[2], run.locals);
    return item === undefined ? undefined : this.#is(statement[1], [item], run);
  }

  /** `to_resource(r) if r.to.id == input.resource.id`: what each body of the function asks first. */
  #inFunction(statement: Statement, run: Run, side: Side, depth: number): GraphUse[] | undefined {
    if (statement[0] !== 'call' || depth === DEPTH_MAX) return undefined;
    const called = this.#functions.get(statement[1]);
    if (called === undefined) return undefined;
    const given = statement[2].map((operand) => this.#handedOn(operand, run));
    if (!given.some((origin) => origin.endsWith(`#${GIVEN}`))) return undefined;
    const key = JSON.stringify([statement[1], side, depth, given]);
    const uses = this.#given.get(key) ?? this.#ofFunction(called, given, side, depth + 1);
    this.#given.set(key, uses);
    return uses.some((use) => Object.keys(use).length === 0) ? undefined : uses;
  }

  #ofFunction(called: PlanFunction, given: readonly Origin[], side: Side, depth: number): GraphUse[] {
    const clauses = clausesOf(called);
    if (clauses === undefined) return [{}];
    return clauses.flatMap((body) => {
      const locals = this.#localsOf(body, called.blocks);
      const origins = originsOf(placed(body), called.params, this.#plan.strings, { origins: given, scan: GIVEN, side });
      return this.#usesOf({ body, locals, origins, entry: GIVEN, stays: () => true }, side, depth);
    });
  }

  /** What an argument is in the function that gets it. */
  #handedOn(operand: Operand, { origins, entry }: Run): Origin {
    if (Array.isArray(operand)) return `literal.${operand[0]}`;
    const origin = only(operand, origins) ?? 'other';
    const [kind, number] = origin.split('#');
    if (number === undefined) return /^(input$|thing\.|term\.|literal\.)/.test(origin) ? origin : 'other';
    return number === String(entry) && kind !== 'key' ? (`${kind}#${GIVEN}` as Origin) : 'other';
  }

  /** The condition that a part of the entry is one of these. */
  #is(operand: Operand, others: readonly Operand[], run: Run): GraphUse[] | undefined {
    const member = memberOf(operand, run);
    const terms = others.map((other) => this.#term(other, run.origins));
    if (member === undefined || !terms.every((term) => term !== undefined)) return undefined;
    if (member === 'name' && !terms.every((term) => 'literal' in term)) return undefined;
    return terms.map((term) => useOf(member, term));
  }

  #term(operand: Operand, origins: Origins): GraphTerm | undefined {
    const literal = nameOf(operand, this.#plan.strings);
    if (literal !== undefined) return { literal };
    const [kind, of, member] = (only(operand, origins) ?? '').split('.');
    if (kind === 'literal') return { literal: this.#plan.strings[Number(of)] as string };
    return kind === 'term' ? ({ of, member } as GraphTerm) : undefined;
  }

  /** Worked out once: a block of a tenant may have thousands of statements that ask. */
  #localsOf(body: Block, all: readonly Block[]): Locals {
    let locals = this.#locals.get(body);
    if (locals === undefined) {
      const reads = readCounts(body);
      // Read where nothing is known of it.
      for (const local of this.#passedOnIn(all)) reads.set(local, Number.POSITIVE_INFINITY);
      const writes = writeCounts(body);
      const constants = constantsOf(body, writes, this.#plan.strings, (name) => this.#resultOf(name));
      locals = { reads, writes, constants, readers: readersIn(body) };
      this.#locals.set(body, locals);
    }
    return locals;
  }

  /** Locals that some body reads and does not write. */
  #passedOnIn(all: readonly Block[]): ReadonlySet<number> {
    let passed = this.#passedOn.get(all);
    if (passed === undefined) {
      const foreign = all.flatMap((body) => {
        const writes = writeCounts(body);
        return [...readCounts(body).keys()].filter((local) => !writes.has(local));
      });
      passed = new Set(foreign);
      this.#passedOn.set(all, passed);
    }
    return passed;
  }

  #resultOf(name: string): ConstantList | undefined {
    if (!this.#results.has(name)) {
      const rule = this.#functions.get(name);
      this.#results.set(name, rule && constantResult(rule, this.#plan.strings));
    }
    return this.#results.get(name);
  }
}

const MEMBER = 'internal.member_2';

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

/** What a list is asked for, when that is the only thing that ever happens to it. */
function askedOf(list: number, { reads, writes, readers }: Locals): Operand | undefined {
  // It is made, and added to once.
  if (writes.get(list) !== 2 || reads.get(list) !== 2) return undefined;
  const [made, ...others] = (readers.get(list) ?? []).filter(([kind]) => kind !== 'add' && kind !== 'append');
  if (made === undefined || others.length > 0) return undefined;
  return askedBy(made, list, { reads, writes, readers });
}

function askedBy(statement: Statement, list: number, locals: Omit<Locals, 'constants'>): Operand | undefined {
  if (statement[0] === 'assign') {
    const copy = statement[2];
    const [reader] = locals.readers.get(copy) ?? [];
    if (locals.writes.get(copy) !== 1 || locals.reads.get(copy) !== 1 || reader?.[0] === 'assign') return undefined;
    return reader && askedBy(reader, copy, locals);
  }
  if (statement[0] !== 'call' || statement[1] !== MEMBER) return undefined;
  const [item, asked] = statement[2];
  return asked === list ? item : undefined;
}

function readersIn(body: Block): ReadonlyMap<number, readonly Statement[]> {
  const readers = new Map<number, Statement[]>();
  for (const { statement } of placed(body)) {
    for (const read of partsOf(statement).reads) {
      if (typeof read !== 'number') continue;
      const known = readers.get(read);
      if (known === undefined) readers.set(read, [statement]);
      else known.push(statement);
    }
  }
  return readers;
}

/** The bodies of a function that is a list of clauses, each undefined unless its body holds; undefined for other functions. */
function clausesOf({ blocks, return: result }: PlanFunction): Block[] | undefined {
  const [last, ...pairs] = blocks.toReversed();
  if (last?.length !== 1 || last[0]?.[0] !== 'return' || pairs.length % 2 !== 0) return undefined;
  const clauses: Block[] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const [taken, body] = [pairs[i] as Block, pairs[i + 1] as Block];
    const [[first, held] = [], [then, from, to] = []] = taken as readonly [string, number, number][];
    const isTaken =
      taken.length === 2 && first === 'isDefined' && then === 'assignOnce' && from === held && to === result;
    if (!isTaken || body[0]?.[0] !== 'reset' || body[0][1] !== held) return undefined;
    clauses.push(body);
  }
  return clauses;
}
