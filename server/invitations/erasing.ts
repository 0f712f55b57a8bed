/**
 * Erasing a person from invitations: those that it sent or that lead to it, those that it accepted or declined, and those
 * to its addresses. Of an invitation that others may use too, only the person's data is deleted.
 */

import type { Encrypter } from '../core/encrypter.ts';
import type { RoomErasing } from '../room/erasing.ts';
import { contactDigest } from './contact.ts';
import { removeAcceptances, removeEndedBy, removeSent, removeToContacts, renameEndedBy } from './store.ts';

export function erasingInvitations(encrypter: Pick<Encrypter, 'digest'>): RoomErasing {
  return {
    async eraseSome(tx, { tenant, type, id, contacts, replacement }) {
      const person = { type, id };
      const [name, replaced] = [`user:${type}:${id}`, `user:${type}:${replacement}`];
      const digests = contacts.map((contact) => contactDigest(encrypter, tenant, contact));
      const sent = await removeSent(tx, tenant, person);
      const accepted = await removeAcceptances(tx, tenant, person);
      const declined = await removeEndedBy(tx, tenant, name);
      const renamed = await renameEndedBy(tx, tenant, name, replaced);
      const addressed = await removeToContacts(tx, tenant, digests);
      const parts = [sent, accepted, declined, renamed, addressed];
      const removed = {
        invitationsSent: sent.count,
        invitationsReceived: accepted.count + declined.count + addressed.count,
        invitationsRewritten: renamed.count,
      };
      return { removed, ...(parts.some((part) => part.more) ? { next: '' } : {}) };
    },
    keeps: [
      {
        what: 'invitations to addresses that the request does not name: a keyed digest of the address, and a mask of it',
        why: 'An address is known as its digest only, so nobody can tell whose it is. Name the addresses in contacts.',
        until: 'the erasure is repeated with the addresses, or the tenant is erased',
      },
    ],
  };
}
