/** What the id and the name of the type of an actor or resource may be, pure. */
import { limits } from './limits.ts';

/** No path can hold the two dots: clients resolve them away. */
const ID = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]+$/u;
const TYPE = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** Why the id cannot be one, or undefined. */
export function wrongId(id: string): string | undefined {
  const bytes = Buffer.byteLength(id);
  if (bytes > limits.entityIdBytesMax)
    return `An id can have at most ${limits.entityIdBytesMax} bytes; this one has ${bytes}.`;
  if (!ID.test(id)) return 'An id must not be empty, contain control characters, or be . or ..';
  return undefined;
}

export function isTypeName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= limits.typeNameCharsMax && TYPE.test(value);
}
