/** Erasing a person from the list of changes, which names accounts that a member disabled, enabled or deleted, and refused tokens. */
import { erasedName } from '../core/auth/claims.ts';
import type { RoomErasing } from '../room/erasing.ts';
import { removeAccountChanges, renameDenials } from './store.ts';

export const erasingChanges: RoomErasing = {
  eraseSome: async (tx, { tenant, type, id, isUser, replacement }) => {
    await removeAccountChanges(tx, tenant, `${type}/${id}`);
    if (isUser) await renameDenials(tx, tenant, erasedName(id), replacement);
    return { removed: {} };
  },
  keeps: [],
};
