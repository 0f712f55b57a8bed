/** Shapes of the pseudonyms room. */
import { type Static, Type } from 'typebox';

/** `step` counts rooms; `contacts` are digests of the addresses that the erasure was begun with. */
export const Progress = Type.Object({
  step: Type.Integer(),
  position: Type.Optional(Type.String()),
  removed: Type.Record(Type.String(), Type.Integer()),
  contacts: Type.Array(Type.String()),
});
export type Progress = Static<typeof Progress>;
