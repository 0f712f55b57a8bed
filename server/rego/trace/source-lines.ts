/** Owns a policy's source as it is shown: the condition at a place, the head of a rule, cut where they are long. */
import { limits } from '../../core/limits.ts';
import type { OutlinedRule, Span } from '../schema.ts';
import type { StatementPlace } from './index-plan.ts';

export class SourceLines {
  readonly #lines: readonly string[];
  readonly #outline: readonly OutlinedRule[];
  readonly #exprs: readonly Span[];

  constructor(source: string, outline: readonly OutlinedRule[]) {
    this.#lines = source.split('\n');
    this.#outline = outline;
    this.#exprs = outline.flatMap(({ exprs }) => exprs);
  }

  /** The condition that a place is in: of several in each other the innermost. */
  condition(place: StatementPlace): { line: number; text: string } {
    if (!place.own) return { line: place.row, text: `a condition in line ${place.row} of ${place.file}` };
    const span = this.span(place);
    if (span === undefined) return { line: place.row, text: this.#text([place.row, place.col, place.row, Infinity]) };
    return { line: span[0], text: this.#text(span) };
  }

  span(place: StatementPlace): Span | undefined {
    if (!place.own) return undefined;
    return innermost(this.#exprs, place);
  }

  /** The outermost condition around a place. */
  around(place: StatementPlace): Span | undefined {
    return place.own ? this.#exprs.find((span) => isIn(span, place)) : undefined;
  }

  head(place: StatementPlace): { line: number; text: string } {
    return { line: place.row, text: shortened((this.#lines[place.row - 1] ?? '').trim()) };
  }

  isDefault(place: StatementPlace): boolean {
    return this.#outline.some(({ head, default: is }) => is && head[0] === place.row && head[1] === place.col);
  }

  #text([row, col, endRow, endCol]: Span): string {
    const lines = this.#lines.slice(row - 1, endRow).map((line) => [...line]);
    const last = lines.length - 1;
    // Columns count characters.
    const cut = lines.map((line, i) => line.slice(i === 0 ? col - 1 : 0, i === last ? endCol - 1 : undefined).join(''));
    return shortened(cut.map((line) => line.trim()).join(' '));
  }
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
