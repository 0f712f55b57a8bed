/** Owns trace: notes for a debugger that is not here. */
import { type BuiltinTable, stringOf } from './arguments.ts';

export const traceBuiltins: BuiltinTable = {
  trace: (_context, note) => {
    stringOf(note);
    return true;
  },
};
