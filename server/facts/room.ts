/** Registers the facts room. */
import { defineRoom } from '../core/room.ts';
import { FactsFromDatabase } from './source.ts';

export const factsRoom = defineRoom({
  name: 'facts',
  tables: [],
  create: ({ database, turns }) => ({ records: new FactsFromDatabase(database, turns) }),
});
