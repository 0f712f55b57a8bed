/**
 * Which relationships can matter to a policy, from its plan, when it is accepted. Every use of input.graph is a scan
 * whose body first compares the entry with constants or with the request's subject and resource, before anything that is
 * seen outside of the iteration: then an entry that fails a comparison leaves no trace, and need not be fetched. Whatever
 * is not exactly so counts as a use of all entries.
 */
import { limits } from '../../core/limits.ts';
import type { GraphUse, Narrowing, Reads, WideUse } from '../schema.ts';
import { Bodies, type Body, type Routine, rowOf } from './bodies.ts';
import { Conditions } from './conditions.ts';
import { nameOf, type Origin, type Placed, type Scan, type Side } from './origins.ts';
import { partsOf } from './parts.ts';
import { type Operand, readPlan, type Statement, UnsupportedPlan } from './source.ts';

const sides = ['subject', 'resource'] as const;

/** What of input.graph a policy can tell apart; undefined when its plan says nothing that helps. */
export function narrowingOf(planText: string, reads: Reads): Narrowing | undefined {
  if (reads.all || planText.length > limits.narrowedPlanCharsMax) return undefined;
  const found = findingsOf(planText);
  if (found === undefined) return undefined;
  const narrowing: { subject?: GraphUse[]; resource?: GraphUse[]; free: Side[]; wide: WideUse[] } = {
    free: [],
    wide: [],
  };
  const ofTypes: WideUse[] = [];
  for (const side of sides) {
    const uses = distinct(found.uses[side]);
    const [row, byType] = [firstOf(found.wide[side]), firstOf(found.byType[side])];
    if (row === undefined && uses.length <= limits.narrowedUsesMax) {
      narrowing[side] = uses;
      if (byType !== undefined) ofTypes.push({ side, row: byType });
    } else narrowing.wide.push({ side, row: row ?? found.firstScan[side] });
    const named = reads.paths.every(([top, name]) => top !== side || name === 'id' || name === 'type');
    if (named && !found.told.has(side)) narrowing.free.push(side);
  }
  return { ...narrowing, ...(ofTypes.length > 0 ? { byType: ofTypes } : {}) };
}

function findingsOf(planText: string): Findings | undefined {
  try {
    return new Findings(new Bodies(readPlan(planText)));
  } catch (error) {
    if (error instanceof UnsupportedPlan || error instanceof RangeError) return undefined; // nested too deeply
    throw error;
  }
}

function firstOf(rows: ReadonlySet<number>): number | undefined {
  return [...rows].sort((a, b) => a - b)[0];
}

function distinct(uses: readonly GraphUse[]): GraphUse[] {
  return [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()];
}

class Findings {
  readonly uses: Record<Side, GraphUse[]> = { subject: [], resource: [] };
  /** Where a side is used so that all of it may matter: rows of the policy, 0 where the plan says none. */
  readonly wide: Record<Side, Set<number>> = { subject: new Set(), resource: new Set() };
  /** Where a side is used so that all entries of some type may matter. */
  readonly byType: Record<Side, Set<number>> = { subject: new Set(), resource: new Set() };
  readonly firstScan: Record<Side, number> = { subject: 0, resource: 0 };
  /** Whose id is looked at outside of scans of its own relationships. */
  readonly told = new Set<Side>();
  readonly #bodies: Bodies;
  readonly #conditions: Conditions;
  /** Worked out once for each: a tenant's block may have thousands of statements that ask. */
  readonly #useOf = new Map<Scan['statement'], readonly GraphUse[]>();

  constructor(bodies: Bodies) {
    this.#bodies = bodies;
    this.#conditions = new Conditions(bodies);
    for (const routine of bodies.routines) this.#routine(routine);
  }

  /** Nothing of the graph passes between the bodies of a rule. */
  #routine(routine: Routine): void {
    for (const body of routine.bodies) {
      for (const local of body.foreign) {
        for (const other of routine.bodies)
          for (const origin of other.origins.get(local) ?? []) this.#escape(origin, other.row);
      }
      for (const one of body.statements) this.#look(one, body, routine);
    }
  }

  #look(one: Placed, body: Body, routine: Routine): void {
    const { statement, within, scan } = one;
    const row = this.#rowOf(one) ?? body.row;
    const of = (operand: Operand): readonly Origin[] =>
      typeof operand === 'number' ? [...(body.origins.get(operand) ?? [])] : [];
    if (statement[0] === 'with') this.#escape('input', row);
    if (this.#isCall(statement)) {
      const input = statement[2][0];
      if (input === undefined || of(input).join() !== 'input') this.#escape('input', row);
    }
    for (const operand of this.#seen(statement, of)) {
      for (const origin of of(operand)) {
        if (!origin.includes('#') || origin.startsWith('key#')) this.#escape(origin, row);
      }
    }
    for (const operand of partsOf(statement).reads) {
      for (const origin of of(operand)) {
        const number = origin.split('#')[1];
        // An entry that is looked at after its iteration.
        if (number !== undefined && !within.some((outer) => outer.number === Number(number))) this.#escape(origin, row);
      }
    }
    const side = scan && sideOf(of(scan.statement[1]));
    if (scan !== undefined && side !== undefined) this.#scanned(side, this.#usesOf(scan, side, body, routine), row);
    this.#tell(one, body, routine, of);
  }

  /** The row of a statement in the policy, or of the scan that it is in. */
  #rowOf({ statement, within }: Placed): number | undefined {
    const scan = within.at(-1)?.statement;
    const { files } = this.#bodies.plan;
    return rowOf(statement, files) ?? (scan && rowOf(scan, files));
  }

  /** A rule, which is given the input as it is. */
  #isCall(statement: Statement): statement is Extract<Statement, ['call' | 'dynamic', ...unknown[]]> {
    return statement[0] === 'dynamic' || (statement[0] === 'call' && this.#bodies.functions.has(statement[1]));
  }

  /** What a statement looks at in a way that is not followed: all of it may matter. */
  #seen(statement: Statement, of: (operand: Operand) => readonly Origin[]): readonly Operand[] {
    switch (statement[0]) {
      case 'assign':
      case 'isDefined':
      case 'isUndefined':
      case 'isArray':
      case 'isObject':
      case 'isSet':
        return [];
      case 'scan':
        return sideOf(of(statement[1])) === undefined ? [statement[1]] : [];
      case 'dot': {
        const followed =
          nameOf(statement[2], this.#bodies.plan.strings) !== undefined && !of(statement[1]).some(isSide);
        return followed ? [statement[2]] : [statement[1], statement[2]];
      }
      case 'dynamic':
        return statement[1];
      case 'call':
        return this.#isCall(statement) ? statement[2].slice(1) : statement[2];
      default:
        return partsOf(statement).reads;
    }
  }

  #scanned(side: Side, uses: readonly GraphUse[], row: number): void {
    this.firstScan[side] ||= row;
    if (uses.some((use) => Object.keys(use).length === 0)) this.wide[side].add(row);
    else this.uses[side].push(...uses);
    if (uses.some(({ id }) => id === undefined)) this.byType[side].add(row);
  }

  #escape(origin: Origin, row: number): void {
    const isAll = origin === 'input' || origin === 'graph';
    // Which side the entry is of has its scan; it may be either when the plan is not what is expected.
    for (const side of sides) if (isAll || origin === `side.${side}` || origin.includes('#')) this.wide[side].add(row);
    if (origin === 'input') for (const side of sides) this.told.add(side);
  }

  #usesOf({ number, statement }: Scan, side: Side, body: Body, routine: Routine): readonly GraphUse[] {
    const known =
      this.#useOf.get(statement) ?? this.#conditions.ofScan({ number, statements: statement[4], side }, body, routine);
    this.#useOf.set(statement, known);
    return known;
  }

  /** Notes that an id is looked at where entities without relationships come by, too. */
  #tell(
    { statement, within }: Placed,
    body: Body,
    routine: Routine,
    of: (operand: Operand) => readonly Origin[],
  ): void {
    if (statement[0] === 'assign') return;
    for (const side of sides) {
      if (!partsOf(statement).reads.some((read) => of(read).includes(`term.${side}.id`))) continue;
      const isOwn = within.some((scan) => {
        const scanned = sideOf(of(scan.statement[1]));
        if (scanned === side) return true;
        const uses = scanned === undefined ? [] : this.#usesOf(scan, scanned, body, routine);
        return (
          uses.length > 0 &&
          uses.every(({ id }) => id !== undefined && 'of' in id && id.of === side && id.member === 'id')
        );
      });
      if (!isOwn) this.told.add(side);
    }
  }
}

const isSide = (origin: Origin): boolean => origin.startsWith('side.');

/** The side that a scan goes over, when it is surely one. */
function sideOf(origins: readonly Origin[]): Side | undefined {
  const [origin, ...others] = origins;
  if (others.length > 0) return undefined;
  return sides.find((side) => origin === `side.${side}`);
}
