import { defineRoom } from '../room/room.ts';
import { pseudonymProblem } from './problems.ts';

export const pseudonymsRoom = defineRoom({
  name: 'pseudonyms',
  tables: ['erased_actor', 'erased_contact'],
  create: () => ({}),
  problems: pseudonymProblem,
});
