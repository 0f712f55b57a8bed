/**
 * The text of programs made from plans. A piece of it is a template written in this room, integers, and other such
 * pieces: no text of a tenant can get in, whatever the plan says. Its strings, numbers and places go into a table beside
 * the program, which names them by their numbers.
 */

import { UnsupportedPlan } from './source.ts';

/** A piece of JavaScript. Only `js` and `joined` make one. */
export class Code {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  static of(fixed: TemplateStringsArray, ...parts: readonly (Code | number)[]): Code {
    let text = fixed[0] as string;
    // What comes from a plan's JSON has the type that somebody said it has.
    for (let i = 0; i < parts.length; i++) text += written(parts[i]) + (fixed[i + 1] as string);
    return new Code(text);
  }

  static join(pieces: readonly Code[]): Code {
    return new Code(pieces.map(written).join(''));
  }
}

/** A template's piece, of pieces and whole numbers. Throws UnsupportedPlan for anything else. */
export const js = Code.of;

/** Pieces one after the other. */
export const joined = Code.join;

function written(part: unknown): string {
  if (part instanceof Code) return part.text;
  if (Number.isSafeInteger(part) && (part as number) >= 0) return String(part);
  throw new UnsupportedPlan('neither code nor a whole number');
}
