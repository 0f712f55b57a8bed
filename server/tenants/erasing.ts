/** Erasing a person from the list of changes, which names accounts that a member disabled, enabled or deleted. */
import type { RoomErasing } from '../room/erasing.ts';
import { removeAccountChanges } from './store.ts';

export const erasingChanges: RoomErasing = {
  eraseSome: async (tx, { tenant, type, id }) => {
    await removeAccountChanges(tx, tenant, `${type}/${id}`);
    return { removed: {} };
  },
  keeps: [],
};
