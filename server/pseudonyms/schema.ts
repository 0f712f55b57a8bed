import { type Static, Type } from 'typebox';

/** `step` counts rooms; `contacts`: the addresses that were named since it was begun, encrypted (base64url). */
export const Progress = Type.Object({
  step: Type.Integer(),
  position: Type.Optional(Type.String()),
  removed: Type.Record(Type.String(), Type.Integer()),
  contacts: Type.String(),
});
export type Progress = Static<typeof Progress>;
