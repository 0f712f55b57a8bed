/** Registers the erasure room. */
import type { RoomErasing } from '../room/erasing.ts';
import { defineRoom } from '../room/room.ts';
import { writesRoom } from '../writes/index.ts';
import type { ErasureServices } from './actions.ts';
import { registerErasureRoutes } from './routes.ts';

export const erasureRoom = defineRoom({
  name: 'erasure',
  tables: [],
  create({ rooms, encrypter }, use): ErasureServices {
    let erasing: readonly RoomErasing[] | undefined;
    return {
      ...{ ...use(writesRoom), encrypter },
      // Rooms after this one erase too. What makes records erases before what records them.
      get rooms() {
        erasing ??= rooms.flatMap((room) => room.erasing?.(use(room)) ?? []).reverse();
        return erasing;
      },
    };
  },
  routes: registerErasureRoutes,
  openapiTag: 'Erasure',
});
