/** Erasing a person from the keys room: tokens that the tenant's own issuer made for it are refused. */
import { limits } from '../core/limits.ts';
import type { RoomErasing } from '../room/erasing.ts';
import { denyErasedSubject } from './denied.ts';

export const erasingTokens: RoomErasing = {
  async begin(unit, { id, isUser, replacement }) {
    // Users are actors of the tenant's default type, and the subjects of its tokens.
    if (isUser) await denyErasedSubject(unit, id, 'issued', replacement);
  },
  eraseSome: async () => ({ removed: {} }),
  keeps: [
    {
      what: 'a hash of the id, in the list of refused tokens',
      why: "Access tokens of the tenant's own issuer that were issued for the person are refused.",
      until: `the last of them has expired, after ${limits.accessTokenTtlMsMax / 3_600_000} hours at most`,
    },
  ],
};
