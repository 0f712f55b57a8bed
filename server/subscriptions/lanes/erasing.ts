/** Erasing a person from deliveries: answers of endpoints that name them. Events themselves are the events room's. */
import { limits } from '../../core/limits.ts';
import type { RoomErasing } from '../../room/erasing.ts';
import { eraseAnswers } from '../delivery-store.ts';

export const erasingDeliveries: RoomErasing = {
  async eraseSome(tx, { tenant, id, contacts }, position) {
    const portion = { after: position, limit: limits.eraseScanItemsMax };
    const { erased, next } = await eraseAnswers(tx, tenant, [id, ...contacts], portion);
    return { removed: { deliveryAnswers: erased }, ...(next === undefined ? {} : { next }) };
  },
  isLog: true,
  keeps: [],
};
