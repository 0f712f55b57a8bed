/** Why a template cannot be used, and where. Pure. */
import type { ProblemPlace } from '../core/problems.ts';

/** Why a template cannot be used. `line` and `column` begin with 1. `variable`: the one that it reads and was not given. */
export class TemplateError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly variable: string | undefined;
  constructor(message: string, line?: number, column?: number) {
    super(message);
    this.line = line;
    this.column = column;
    this.variable = /^undefined variable: ([\w-]+)/.exec(message)?.[1];
  }
}

/** The place of a template's error, for a problem. */
export function placeOf(pointer: string, { message, line, column }: TemplateError): ProblemPlace {
  const at = line === undefined || column === undefined ? {} : { line, column };
  const where = line === undefined ? '' : `Line ${line}, column ${column}: `;
  return { pointer, detail: `${where}${message}`, ...at };
}
