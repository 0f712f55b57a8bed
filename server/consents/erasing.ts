import type { RoomErasing } from '../room/erasing.ts';
import { lockUsers, removeUser } from './store.ts';

export const erasingConsents: RoomErasing = {
  async eraseSome(tx, { tenant, id, isUser }) {
    if (!isUser) return { removed: {} };
    // A reading that invites the user locks it too, and finds nothing to invite to afterwards.
    await lockUsers(tx, tenant, [id]);
    return { removed: await removeUser(tx, tenant, id) };
  },
  keeps: [],
};
