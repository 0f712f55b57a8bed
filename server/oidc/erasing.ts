/** Erasing a person: sessions, log-ins under way, grants and tokens of its account. */
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import type { RoomErasing } from '../room/erasing.ts';
import { accountDigest } from './record-keys.ts';
import { removeOfAccount } from './store.ts';

export function erasingRecords(encrypter: Encrypter): RoomErasing {
  return {
    async eraseSome(tx, { tenant, id, isUser }) {
      // Accounts are actors of the tenant's default type.
      if (!isUser) return { removed: {} };
      const digest = accountDigest(encrypter, tenant, id);
      const removed = await removeOfAccount(tx, tenant, digest, limits.erasePageItemsMax);
      return {
        removed: { oidcRecords: removed },
        ...(removed > 0 ? { next: '' } : {}),
      };
    },
    keeps: [],
  };
}
