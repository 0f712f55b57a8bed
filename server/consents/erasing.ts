/** Owns erasing a person from what users agreed to. */
import type { RoomErasing } from '../room/erasing.ts';
import { holdUsers, removeUser } from './store.ts';

export const erasingConsents: RoomErasing = {
  async eraseSome(tx, { tenant, id, isUser }) {
    if (!isUser) return { removed: {} };
    // A reading that invites the user holds it too, and finds nothing to invite to afterwards.
    await holdUsers(tx, tenant, [id]);
    return { removed: await removeUser(tx, tenant, id) };
  },
  keeps: [],
};
