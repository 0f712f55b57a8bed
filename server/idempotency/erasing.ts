/** Owns erasing a person from remembered requests: the keys that it sent, and answers, any of which may name it. */
import type { RoomErasing } from '../core/erasing.ts';
import type { Sealer } from '../keys/index.ts';
import { forgetActor } from './actions.ts';

export function erasingIdempotency(sealer: Sealer): RoomErasing {
  return {
    room: 'idempotency',
    async eraseSome(tx, { tenant, type, id }) {
      return { removed: { idempotencyKeys: await forgetActor({ sealer }, tx, tenant, { type, id }) } };
    },
    keeps: [],
  };
}
