/** Erasing a person from the ledger: whom an entry names is wiped, and the entry stays in the chain. */
import type { RoomErasing } from '../room/erasing.ts';
import { wipeSome } from './store.ts';

export const erasingLedger: RoomErasing = {
  async eraseSome(tx, { tenant, type, id, isUser }) {
    const { wiped, more } = await wipeSome(tx, tenant, { type, id, isUser });
    return { removed: { ledgerEntries: wiped }, ...(more ? { next: '' } : {}) };
  },
  isLog: true,
  keeps: [
    {
      what: 'ledger entries without actor and user, with a digest whose salt is gone',
      why: 'Without them the chain of the tenant would not verify. They name nobody.',
      until: 'the tenant is erased',
    },
    {
      what: 'requestId and clientId of ledger entries, decisions and audit entries',
      why: 'They identify a request and a program. Ids of people that clients put into X-Request-ID stay here.',
      until: 'the tenant is erased',
    },
    {
      what: 'receipts, exports and tokens that were handed out',
      why: 'Accord does not store them.',
      until: 'their holders delete them',
    },
  ],
};
