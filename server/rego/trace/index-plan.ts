/**
 * What is known of a plan's statements before it is run: their numbers, where they stand in the source, which
 * definition of which rule each belongs to, and how far into that definition it is.
 */
import { OUTCOME } from '../outcome.ts';
import { partsOf } from '../plan/parts.ts';
import { type Block, OWN_FILE, type PlanSource, type Statement, UnsupportedPlan } from '../plan/source.ts';

/** In a source, 1-based; `own`: in the policy's own module. Row 0: nowhere. */
export type StatementPlace = {
  readonly own: boolean;
  readonly file: string;
  readonly row: number;
  readonly col: number;
};

/** `end` passes the result of a definition on, `start` makes what definitions put their parts into. */
type DefinitionKind = 'rule' | 'else' | 'default' | 'start' | 'end';

/** One of the blocks of a function: a definition of the rule, or what the planner put around those. */
export type Definition = {
  readonly kind: DefinitionKind;
  readonly statements: Block;
  /** The place of its head. */
  readonly head: StatementPlace;
  /** The statement that gives its value. */
  readonly gives: Statement | undefined;
};

export type Numbered = {
  readonly statement: Statement;
  /** The further into its definition the higher. What is tried for each item comes behind its loop, a negation behind its inside. */
  readonly rank: number;
  readonly place: StatementPlace;
  /** Numbers of the function and of the definition in it; -1 for the plan's own blocks. */
  readonly of: number;
  readonly definition: number;
  /** Numbers of the loops around it, outermost first. */
  readonly within: readonly number[];
};

const NOWHERE: StatementPlace = { own: false, file: '', row: 0, col: 0 };

export class IndexedPlan {
  readonly plan: PlanSource;
  readonly numbered: readonly Numbered[];
  /** By function. */
  readonly definitions: readonly (readonly Definition[])[];
  readonly functions: ReadonlyMap<string, number>;
  /** Where an item of an `every` leaves, because all holds for it; the number of that loop. */
  readonly satisfied: ReadonlyMap<Statement, number>;
  /** The first statement for each item of an `every`, with the number of that loop. */
  readonly begins: ReadonlyMap<Statement, number>;
  readonly #numbers = new Map<Statement, number>();

  /** @throws UnsupportedPlan when the plan was compiled without places */
  constructor(plan: PlanSource) {
    this.plan = plan;
    this.functions = new Map(plan.functions.map(({ name }, index) => [name, index]));
    const { places } = plan;
    if (places === undefined) throw new UnsupportedPlan('the plan does not say where its statements stand');
    const numbered: Numbered[] = [];
    const satisfied = new Map<Statement, number>();
    let rank = 0;
    const placeOf = (number: number): StatementPlace => {
      const [file = 0, row = 0, col = 0] = places.slice(3 * number, 3 * number + 3);
      const name = plan.files[file] ?? '';
      return row === 0 ? NOWHERE : { own: name === OWN_FILE, file: name, row, col };
    };
    const walk = (block: Block, of: number, definition: number, within: readonly number[]): void => {
      for (const statement of block) {
        const number = numbered.length;
        this.#numbers.set(statement, number);
        const before = ++rank;
        const one = { statement, rank: before, place: placeOf(number), of, definition, within };
        numbered.push(one);
        const inside = statement[0] === 'scan' ? [...within, number] : within;
        if (statement[0] === 'scan')
          for (const [i, inner] of statement[4].entries())
            if (isSatisfied(inner, statement[4][i + 1])) satisfied.set(inner, number);
        for (const inner of partsOf(statement).blocks) walk(inner, of, definition, inside);
        if (statement[0] === 'not') numbered[number] = { ...one, rank: ++rank };
      }
    };
    // As the compiler numbers them: what is around the links of an else chain comes before those.
    for (const [of, { blocks }] of plan.functions.entries()) {
      let definition = 0;
      for (const block of blocks) {
        const links = linksOf(block);
        if (links !== undefined) {
          const [around] = block;
          const number = numbered.length;
          this.#numbers.set(around as Statement, number);
          numbered.push({ ...NO_RANK, statement: around as Statement, place: placeOf(number), of });
        }
        for (const one of links ?? [block]) walk(one, of, definition++, []);
      }
    }
    for (const blocks of plan.plans) for (const block of blocks) walk(block, -1, -1, []);
    this.numbered = numbered;
    this.satisfied = satisfied;
    const loops = new Set(satisfied.values());
    this.begins = new Map(
      numbered.flatMap(({ statement }, number) => {
        const first = statement[0] === 'scan' && loops.has(number) ? statement[4][0] : undefined;
        return first === undefined ? [] : [[first, number] as const];
      }),
    );
    this.definitions = plan.functions.map(({ blocks, return: result }) =>
      blocks.flatMap((block) => linksOf(block) ?? [block]).map((block) => this.#definition(block, result)),
    );
  }

  number(statement: Statement): number {
    return this.#numbers.get(statement) as number;
  }

  /** The locals that hold the items of the loops around a statement, outermost first. */
  itemsAround(statement: Statement): number[] {
    return this.of(statement).within.flatMap((number) => {
      const one = this.numbered[number]?.statement;
      return one?.[0] === 'scan' ? [one[3]] : [];
    });
  }

  of(statement: Statement): Numbered {
    return this.numbered[this.number(statement)] as Numbered;
  }

  #definition(statements: Block, result: number): Definition {
    const [first] = statements;
    const head = first === undefined ? NOWHERE : this.of(first).place;
    const gives = (to: number | undefined) => this.#giving(statements, head, to);
    const kind = kindOf(statements, result);
    return {
      kind,
      statements,
      head,
      gives: kind === 'default' ? gives(result) : kind === 'end' ? undefined : gives(undefined),
    };
  }

  /** Its last statement in the innermost loop, at the place of the head. */
  #giving(statements: Block, head: StatementPlace, to: number | undefined): Statement | undefined {
    let found: Statement | undefined;
    const look = (block: Block): void => {
      for (const one of block) {
        const { row, col } = this.of(one).place;
        const adds = one[0] === 'assignOnce' || one[0] === 'add' || one[0] === 'insertOnce';
        if (adds && row === head.row && col === head.col && (to === undefined || one[2] === to)) found = one;
        for (const inner of partsOf(one).blocks) look(inner);
      }
    };
    look(statements);
    return found;
  }
}

const NO_RANK = { rank: 0, definition: -1, within: [] };

/** The links of an else chain, which is one block with nothing but its links in it. */
function linksOf(block: Block): readonly Block[] | undefined {
  const [only, ...others] = block;
  return only?.[0] === 'block' && others.length === 0 ? only[1] : undefined;
}

const isSatisfied = (one: Statement, next: Statement | undefined) =>
  one[0] === 'isUndefined' && next?.[0] === 'assign' && next[1] === true;

function kindOf([first, second]: Block, result: number): DefinitionKind {
  if (first?.[0] === 'isUndefined') return first[1] === result ? 'default' : 'else';
  if (first?.[0] === 'isDefined' && second?.[0] === 'assignOnce' && second[2] === result) return 'end';
  return first?.[0] === 'reset' ? 'rule' : 'start';
}

/** The function of the policy's rule called outcome; undefined where it is made of parts. */
export function outcomeRule({ plan, functions }: IndexedPlan): number | undefined {
  const answer = plan.functions.find(({ path }) => path.join('/') === OUTCOME);
  const called = answer?.blocks.flatMap((block) => block.flatMap((one) => (one[0] === 'call' ? [one[1]] : []))) ?? [];
  return called.length === 1 ? functions.get(called[0] as string) : undefined;
}
