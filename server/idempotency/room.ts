import { defineRoom } from '../room/room.ts';
import { type IdempotencyServices, removingExpired } from './actions.ts';
import { erasingIdempotency } from './erasing.ts';
import { idempotencyProblem } from './problems.ts';

export const idempotencyRoom = defineRoom({
  name: 'idempotency',
  tables: ['idempotency_key'],
  create: ({ database, encrypter, clock, observe }): IdempotencyServices => ({ database, encrypter, clock, observe }),
  erasing: ({ encrypter }) => erasingIdempotency(encrypter),
  tasks: (services) => [removingExpired(services)],
  problems: idempotencyProblem,
});
