/** Which rules and conditions of a source evaluations reached, as `opa test --coverage` counts them: a rule when it gave a value, a condition when it was tried. */
import { type Static, Type } from 'typebox';
import type { Statement } from '../plan/source.ts';
import type { OutlinedRule, Span } from '../schema.ts';
import type { IndexedPlan, StatementPlace } from './index-plan.ts';
import type { Recorder } from './recorder.ts';
import { innermost } from './source-lines.ts';

type Numbered = { readonly span: Span; readonly head?: OutlinedRule };

/** The heads and conditions of a source; their numbers are those of this list. */
export function spansOf(outline: readonly OutlinedRule[]): Numbered[] {
  return outline.flatMap((rule) => [{ span: rule.head, head: rule }, ...rule.exprs.map((span) => ({ span }))]);
}

/** For each statement the number of the span that is reached when it is. */
export function spanNumbers(index: IndexedPlan, outline: readonly OutlinedRule[]): (number | undefined)[] {
  const spans = spansOf(outline);
  const gives = new Set(index.definitions.flat().map((definition) => definition.gives));
  const heads = new Map(
    spans.flatMap(({ span, head }, i) => (head ? [[`${span[0]}:${span[1]}`, i]] : [])) as [string, number][],
  );
  const exprs = spans.filter(({ head }) => head === undefined).map(({ span }) => span);
  const numbers = new Map(spans.map(({ span }, i) => [span, i]));
  const ofExpr = ({ row, col }: StatementPlace) => {
    const span = innermost(exprs, { row, col });
    return span && numbers.get(span);
  };
  return index.numbered.map(({ statement, place }) => {
    if (!place.own) return undefined;
    return gives.has(statement) ? heads.get(`${place.row}:${place.col}`) : ofExpr(place);
  });
}

export function reachedSpans({ reached }: Recorder, spans: readonly (number | undefined)[]): number[] {
  const found = new Set<number>();
  for (const [number, span] of spans.entries()) if (reached[number] === 1 && span !== undefined) found.add(span);
  return [...found];
}

/**
 * Of a module of a library: what a policy can reach in it. `places` are the lines of its rules and conditions, of which a line may have
 * several; `reached` the indices of those that an evaluation reached.
 */
export type ModuleReached = { readonly file: string; readonly places: readonly number[]; readonly reached: number[] };
type ModulePlaces = { readonly file: string; readonly places: { row: number; by: number[] }[] };

/** Not the module that puts the answer together. */
const isOfLibrary = ({ own, file }: StatementPlace): boolean => !own && file.endsWith('.rego');

/** By module of libraries, which statements tell that a place in it is reached. */
export function modulePlaces(index: IndexedPlan, noted: (one: Statement) => boolean): ModulePlaces[] {
  const modules = new Map<string, Map<string, { row: number; by: number[] }>>();
  const add = ({ file, row, col }: StatementPlace, key: string, number: number): void => {
    const places = modules.get(file) ?? new Map();
    modules.set(file, places);
    const place = places.get(`${key} ${row}:${col}`) ?? { row, by: [] };
    places.set(`${key} ${row}:${col}`, place);
    place.by.push(number);
  };
  for (const definition of index.definitions.flat()) {
    const { head, gives, kind } = definition;
    if (!isOfLibrary(head) || gives === undefined || kind === 'start' || kind === 'end') continue;
    add(head, 'head', index.number(gives));
  }
  for (const { statement, place, definition, of } of index.numbered) {
    const head = index.definitions[of]?.[definition]?.head;
    if (!isOfLibrary(place) || head === undefined || !noted(statement)) continue;
    if (place.row !== head.row || place.col !== head.col) add(place, 'condition', index.number(statement));
  }
  return [...modules].map(([file, places]) => ({ file, places: [...places.values()] }));
}

export function reachedIn({ reached }: Recorder, modules: readonly ModulePlaces[]): ModuleReached[] {
  return modules.map(({ file, places }) => ({
    file,
    places: places.map(({ row }) => row),
    reached: places.flatMap(({ by }, i) => (by.some((number) => reached[number] === 1) ? [i] : [])),
  }));
}

const Range = Type.Object({
  start: Type.Object({ row: Type.Integer() }),
  end: Type.Object({ row: Type.Integer() }),
});

export const Coverage = Type.Object(
  {
    covered: Type.Array(Range, { description: 'Lines with rules that gave a value and conditions that were tried.' }),
    notCovered: Type.Array(Range, { description: 'Lines with others: no test reached them.' }),
    coveredLines: Type.Integer(),
    notCoveredLines: Type.Integer(),
    coverage: Type.Number({ description: 'Covered lines in percent of both, with at most one decimal.' }),
  },
  { description: 'As in `opa test --coverage`, of the Rego that is evaluated.' },
);
export type Coverage = Static<typeof Coverage>;

/** @param reached numbers of spans that some evaluation reached */
export function coverageOf(outline: readonly OutlinedRule[], reached: ReadonlySet<number>): Coverage {
  const [covered, others] = [new Set<number>(), new Set<number>()];
  for (const [number, { span }] of spansOf(outline).entries()) {
    // Of a condition on several lines the line where it begins; those inside it are their own.
    (reached.has(number) ? covered : others).add(span[0]);
  }
  return counted(covered, others);
}

/** Of each module of libraries, what evaluations reached of what the policy can reach. */
export function coverageOfModules(
  evaluations: readonly (readonly ModuleReached[])[],
): ({ module: string } & Coverage)[] {
  const byFile = Map.groupBy(evaluations.flat(), ({ file }) => file);
  return [...byFile].sort().map(([module, all]) => {
    const reached = new Set(all.flatMap((one) => one.reached));
    const [covered, others] = [new Set<number>(), new Set<number>()];
    for (const [i, row] of (all[0]?.places ?? []).entries()) (reached.has(i) ? covered : others).add(row);
    return { module, ...counted(covered, others) };
  });
}

function counted(covered: Set<number>, others: ReadonlySet<number>): Coverage {
  // A line with a condition that was not reached is not covered, though its rule was.
  for (const line of others) covered.delete(line);
  const total = covered.size + others.size;
  return {
    ...{ covered: ranges(covered), notCovered: ranges(others) },
    ...{ coveredLines: covered.size, notCoveredLines: others.size },
    coverage: total === 0 ? 0 : Math.round((1000 * covered.size) / total) / 10,
  };
}

/** Lines that follow each other as one range. */
function ranges(lines: ReadonlySet<number>): Static<typeof Range>[] {
  const found: { start: { row: number }; end: { row: number } }[] = [];
  for (const row of [...lines].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last?.end.row === row - 1) last.end.row = row;
    else found.push({ start: { row }, end: { row } });
  }
  return found;
}
