/** Erasing a person from the mail room: the messages to the addresses that the erasure names. */
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import type { RoomErasing } from '../room/erasing.ts';
import { mailRecipientDigest } from './actions.ts';
import { removeToRecipients } from './store.ts';

type Digester = Pick<Encrypter, 'digest'>;

export function erasingMail(digester: Digester): RoomErasing {
  return {
    async eraseSome(tx, { tenant, contacts }) {
      const mails = await removeMail(tx, digester, tenant, contacts);
      return { removed: { mails }, ...(mails === limits.erasePageItemsMax ? { next: '' } : {}) };
    },
    keeps: [],
  };
}

/** Removes some messages to addresses. @returns how many, at most erasePageItemsMax */
export async function removeMail(
  tx: Transaction,
  digester: Digester,
  tenant: string,
  addresses: readonly string[],
): Promise<number> {
  const digests = addresses.flatMap((address) => {
    const read = comparableAddress(address);
    return read.ok ? [mailRecipientDigest(digester, tenant, read.address)] : [];
  });
  return digests.length === 0 ? 0 : removeToRecipients(tx, tenant, digests);
}
