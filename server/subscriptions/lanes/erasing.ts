/** Erasing a person from deliveries: answers of endpoints that name them. Events themselves are the events room's. */
import type { RoomErasing } from '../../room/erasing.ts';
import { eraseAnswers } from '../delivery-store.ts';

export const erasingDeliveries: RoomErasing = {
  async eraseSome(tx, { tenant, id, contacts }) {
    return { removed: { deliveryAnswers: await eraseAnswers(tx, tenant, [id, ...contacts]) } };
  },
  isLog: true,
  keeps: [],
};
