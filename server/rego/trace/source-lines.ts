/** The sources as they are shown: the condition at a place, the head of a rule, cut where they are long. */
import { limits } from '../../core/limits.ts';
import { OWN_FILE } from '../plan/source.ts';
import type { OutlinedRule, Span } from '../schema.ts';
import type { StatementPlace } from './index-plan.ts';

/** A module of a library, and where its rules stand. */
export type SourceText = {
  readonly file: string;
  readonly source: string;
  readonly outline: readonly OutlinedRule[];
};

/** `file`: of a library; absent for the policy's own source. Without `line` it is nowhere. */
type ShownLine = { line?: number; file?: string; text: string };

type Module = { readonly lines: readonly string[]; readonly exprs: readonly Span[] };

export class SourceLines {
  readonly #modules: ReadonlyMap<string, Module>;

  constructor(texts: readonly SourceText[]) {
    this.#modules = new Map(
      texts.map(({ file, source, outline }) => [
        file,
        { lines: source.split('\n'), exprs: outline.flatMap(({ exprs }) => exprs) },
      ]),
    );
  }

  /** The condition that a place is in: of several in each other the innermost. */
  condition(place: StatementPlace): ShownLine {
    const module = this.#modules.get(place.file);
    if (module === undefined) return { text: `a condition in line ${place.row} of ${place.file}` };
    const [row, ...rest] = this.span(place) ?? [place.row, place.col, place.row, Infinity];
    return { line: row, ...fileOf(place), text: textOf(module, [row, ...rest] as Span) };
  }

  span(place: StatementPlace): Span | undefined {
    return innermost(this.#modules.get(place.file)?.exprs ?? [], place);
  }

  /** The outermost condition around a place. */
  around(place: StatementPlace): Span | undefined {
    return this.#modules.get(place.file)?.exprs.find((span) => isIn(span, place));
  }

  /** @param name of the rule, where its source is not there */
  head(place: StatementPlace, name: string): ShownLine {
    const module = this.#modules.get(place.file);
    if (module === undefined) return { text: `${name} in line ${place.row} of ${place.file}` };
    return { line: place.row, ...fileOf(place), text: shortened((module.lines[place.row - 1] ?? '').trim()) };
  }
}

const fileOf = ({ file }: StatementPlace) => (file === OWN_FILE ? {} : { file });

function textOf({ lines: all }: Module, [row, col, endRow, endCol]: Span): string {
  const lines = all.slice(row - 1, endRow).map((line) => [...line]);
  const last = lines.length - 1;
  // Columns count characters.
  const cut = lines.map((line, i) => line.slice(i === 0 ? col - 1 : 0, i === last ? endCol - 1 : undefined).join(''));
  return shortened(cut.map((line) => line.trim()).join(' '));
}

function shortened(text: string): string {
  const chars = [...text];
  return chars.length <= limits.whyNotValueCharsMax ? text : `${chars.slice(0, limits.whyNotValueCharsMax).join('')}…`;
}

export function isIn([row, col, endRow, endCol]: Span, place: { row: number; col: number }): boolean {
  const begins = place.row > row || (place.row === row && place.col >= col);
  return begins && (place.row < endRow || (place.row === endRow && place.col < endCol));
}

/** The outline's spans come with the outer before the inner. */
export function innermost(spans: readonly Span[], place: { row: number; col: number }): Span | undefined {
  return spans.findLast((span) => isIn(span, place));
}
