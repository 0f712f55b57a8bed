import { defineRoom } from '../room/room.ts';
import { createCompiler } from './compile.ts';

export const regoRoom = defineRoom({
  name: 'rego',
  tables: [],
  create: ({ config, observe }) => ({ compiler: createCompiler({ workers: config.ACCORD_COMPILERS, observe }) }),
  close: ({ compiler }) => compiler.close(),
});
