/** Erasing a person from the accounts room: the account of this id, what was mailed to it, and attempts with its addresses. */
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { denyErasedSubject } from '../keys/index.ts';
import { removeMail } from '../mail/index.ts';
import type { RoomErasing } from '../room/erasing.ts';
import { deleteAttempt } from './attempt-store.ts';
import { attemptDigest } from './lockout.ts';
import { attemptKeyOf } from './rules.ts';
import { deleteAccountRow, deleteSignUps, readAccountRow, updateEnabled } from './store.ts';

export function erasingAccounts(digester: Pick<Encrypter, 'digest'>): RoomErasing {
  return {
    async begin(unit, { tenant, id, isUser, replacement }) {
      const row = isUser && UUID.test(id) ? await readAccountRow(unit.tx, tenant, id, true) : undefined;
      if (row === undefined) return;
      // Nobody logs in to it while it is erased; its id does not come back.
      await updateEnabled(unit.tx, tenant, id, { enabled: false, now: unit.nowText });
      await denyErasedSubject(unit, id, 'gone', replacement);
    },
    async eraseSome(tx, { tenant, id, isUser, contacts }) {
      const row = isUser && UUID.test(id) ? await readAccountRow(tx, tenant, id, true) : undefined;
      const addresses = new Set([...contacts.map(attemptKeyOf), ...(row === undefined ? [] : [row.email])]);
      for (const address of addresses) {
        await deleteSignUps(tx, tenant, address);
        for (const kind of ['account', 'mail'] as const) {
          await deleteAttempt(tx, tenant, { kind, digest: attemptDigest(digester, tenant, kind, address) });
        }
      }
      const mails = row === undefined ? 0 : await removeMail(tx, digester, tenant, [row.email]);
      // The row is the only place that has the address: it goes with the last mails.
      if (mails === limits.erasePageItemsMax) return { removed: { mails }, next: '' };
      const accounts = row === undefined ? 0 : await deleteAccountRow(tx, tenant, id);
      return { removed: { accounts, mails } };
    },
    keeps: [
      {
        what: 'an account with one of the addresses and another id',
        why: 'It is another actor, and an address may have been given to somebody else since.',
        until: 'that actor is erased, or the account is deleted',
      },
    ],
  };
}
