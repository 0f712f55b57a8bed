/**
 * How a plan's functions are read as bodies of rules, once for whoever asks what they do with relationships. A body is a
 * block of a function, or a link of an else chain. The bodies of one function have the same numbers for their locals, and are
 * read one by one: a value that passes from one to another is `foreign` there.
 */
import { type ConstantList, type Constants, constantResult, constantsOf } from './constants.ts';
import { type Origins, originsOf, type Placed, placed } from './origins.ts';
import { partsOf } from './parts.ts';
import { type Block, OWN_FILE, type PlanFunction, type PlanSource, type Statement } from './source.ts';

export type Counts = ReadonlyMap<number, number>;

export type Body = {
  readonly block: Block;
  readonly statements: readonly Placed[];
  readonly origins: Origins;
  /** How often each local is read; infinity for those that another body of the function may read. */
  readonly reads: Counts;
  readonly writes: Counts;
  readonly readers: ReadonlyMap<number, readonly Statement[]>;
  readonly writers: ReadonlyMap<number, readonly Statement[]>;
  /** Locals that are read before they are written. */
  readonly foreign: ReadonlySet<number>;
  readonly constants: Constants;
  /** The row of its rule, 0 where the plan does not say it. */
  readonly row: number;
};

/** What is evaluated: a function, or the plan's own blocks, which no function calls. */
export type Routine = { readonly function?: PlanFunction; readonly params: readonly number[]; readonly bodies: Body[] };

export class Bodies {
  readonly plan: PlanSource;
  readonly routines: readonly Routine[];
  readonly functions: ReadonlyMap<string, Routine & { readonly function: PlanFunction }>;
  readonly #results = new Map<string, ConstantList | undefined>();

  constructor(plan: PlanSource) {
    this.plan = plan;
    const rules = new Map(plan.functions.map((one) => [one.name, one]));
    const resultOf = (name: string): ConstantList | undefined => {
      if (!this.#results.has(name)) {
        const rule = rules.get(name);
        this.#results.set(name, rule && constantResult(rule, plan.strings));
      }
      return this.#results.get(name);
    };
    const read = (blocks: readonly Block[], params: readonly number[]) => {
      const bodies = bodiesOf(blocks).map((block) => readBody(block, params, plan, resultOf));
      const foreign = new Set(bodies.flatMap((body) => [...body.foreign]));
      for (const body of bodies) for (const local of foreign) body.reads.set(local, Number.POSITIVE_INFINITY);
      return { params, bodies };
    };
    const functions = plan.functions.map((one) => ({ function: one, ...read(one.blocks, one.params) }));
    this.functions = new Map(functions.map((one) => [one.function.name, one]));
    this.routines = [...functions, ...plan.plans.map((blocks) => read(blocks, [0, 1]))];
  }
}

/** The blocks of a function; for an else chain, which is one block with nothing but its links in it, the links. */
function bodiesOf(blocks: readonly Block[]): Block[] {
  return blocks.flatMap((block) => {
    const [only, ...others] = block;
    return only?.[0] === 'block' && others.length === 0 ? bodiesOf(only[1]) : [block];
  });
}

function readBody(
  block: Block,
  params: readonly number[],
  { strings, files }: PlanSource,
  resultOf: (name: string) => ConstantList | undefined,
) {
  const statements = placed(block);
  const [readers, writers] = [new Map<number, Statement[]>(), new Map<number, Statement[]>()];
  const foreign = new Set<number>();
  for (const { statement } of statements) {
    const { reads, writes } = partsOf(statement);
    for (const local of reads) {
      if (typeof local !== 'number') continue;
      note(readers, local, statement);
      if (!writers.has(local) && !params.includes(local)) foreign.add(local);
    }
    for (const local of writes) note(writers, local, statement);
  }
  const [reads, writes] = [countsOf(readers), countsOf(writers)];
  return {
    ...{ block, statements, reads, writes, readers, writers, foreign },
    origins: originsOf(statements, params, strings),
    constants: constantsOf(block, writes, strings, resultOf),
    row: statements.map(({ statement }) => rowOf(statement, files)).find((row) => row !== undefined) ?? 0,
  };
}

/** The row of a statement in the policy's own source; 0 in another. */
export function rowOf(one: Statement, files: readonly string[]): number | undefined {
  if (one[0] === 'scan') return one[5];
  if (one[0] === 'call') return one[4];
  if (one[0] !== 'assignOnce') return undefined;
  return files[one[3]] === OWN_FILE ? one[4] : 0;
}

function note(places: Map<number, Statement[]>, local: number, statement: Statement): void {
  const known = places.get(local);
  if (known === undefined) places.set(local, [statement]);
  else known.push(statement);
}

function countsOf(places: ReadonlyMap<number, readonly Statement[]>): Map<number, number> {
  return new Map([...places].map(([local, statements]) => [local, statements.length]));
}

/** The bodies of a function that is a list of clauses, each undefined unless its body holds; undefined for other functions. */
export function clausesOf({ bodies, function: called }: Routine): Body[] | undefined {
  const [last, ...pairs] = bodies.toReversed();
  if (last?.block.length !== 1 || last.block[0]?.[0] !== 'return' || pairs.length % 2 !== 0) return undefined;
  const clauses: Body[] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const [taken, body] = [pairs[i] as Body, pairs[i + 1] as Body];
    const [[first, held] = [], [then, from, to] = []] = taken.block as readonly [string, number, number][];
    const isTaken =
      taken.block.length === 2 &&
      first === 'isDefined' &&
      then === 'assignOnce' &&
      from === held &&
      to === called?.return;
    if (!isTaken || body.block[0]?.[0] !== 'reset' || body.block[0][1] !== held) return undefined;
    clauses.push(body);
  }
  return clauses;
}
