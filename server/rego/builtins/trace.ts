import { type BuiltinTable, stringOf } from './arguments.ts';

export const traceBuiltins: BuiltinTable = {
  trace: (_context, note) => {
    stringOf(note);
    return true;
  },
};
