import type { RoomErasing } from '../room/erasing.ts';
import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import type { ErasureServices } from './actions.ts';
import { registerErasureRoutes } from './routes.ts';

export const erasureRoom = defineRoom({
  name: 'erasure',
  tables: [],
  create({ rooms, encrypter }, use): ErasureServices {
    let erasing: readonly RoomErasing[] | undefined;
    return {
      ...{ ...use(writesRoom), encrypter, waitForRevision: use(snapshotRoom).waitForRevision },
      // Rooms after this one erase too.
      get rooms() {
        erasing ??= inOrder(rooms.flatMap((room) => room.erasing?.(use(room)) ?? []));
        return erasing;
      },
    };
  },
  routes: registerErasureRoutes,
  openapiTag: 'Erasure',
});

/** The last room first, because rooms make records of what those before them hold; logs behind all others. */
function inOrder(all: readonly RoomErasing[]): RoomErasing[] {
  const reversed = all.toReversed();
  return [...reversed.filter(({ isLog }) => !isLog), ...reversed.filter(({ isLog }) => isLog)];
}
