/** Erasing a person from remembered requests: the keys that it sent, and answers, any of which may name it. */

import type { Encrypter } from '../core/encrypter.ts';
import type { RoomErasing } from '../room/erasing.ts';
import { forgettingActor } from './actions.ts';

export function erasingIdempotency(encrypter: Encrypter): RoomErasing {
  return {
    eraseSome: forgettingActor({ encrypter }),
    keeps: [
      {
        what: 'keyed digests of the Idempotency-Keys that others of the tenant sent, without their answers',
        why: 'Any answer may name the person, so all were wiped. A request that is repeated is answered with 409 idempotency_answer_not_kept.',
        until: '24 hours after the request',
      },
    ],
  };
}
