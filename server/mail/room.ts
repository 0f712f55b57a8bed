import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { defineRoom } from '../room/room.ts';
import { erasingMail } from './erasing.ts';
import { sweepMail } from './outbox.ts';

export const mailRoom = defineRoom({
  name: 'mail',
  tables: ['mail_message'],
  create: ({ database, encrypter, clock, observe }) => ({ database, encrypter, clock, observe }),
  erasing: ({ encrypter }) => erasingMail(encrypter),
  tasks: ({ database, clock }) => [
    {
      name: 'mail sweep',
      everyMs: 600_000,
      firstMs: 60_000,
      run: async () => {
        const removed = await sweepMail(database, utc(clock.now()));
        return removed === limits.erasePageItemsMax ? 0 : undefined;
      },
    },
  ],
});
