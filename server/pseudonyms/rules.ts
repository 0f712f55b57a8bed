/** Replacing texts inside JSON values, pure. */
import { isObject } from '../../crds/values.ts';

/** The replacement of a text. @param type of the actor or resource whose id the text is, where that is said */
export type Replacement = (text: string, type: string | undefined) => string | undefined;

/** Texts of a value that may be ids: members' names and values. It ends soon after there are more than `most`. */
export function textsOf(value: unknown, most: number, into: Set<string> = new Set()): Set<string> {
  if (typeof value === 'string') into.add(value);
  else if (typeof value === 'object' && value !== null) {
    const isList = Array.isArray(value);
    for (const [name, member] of Object.entries(value)) {
      if (into.size > most) return into;
      if (!isList) into.add(name);
      textsOf(member, most, into);
    }
  }
  return into;
}

/** The value with its texts replaced; the same object when none is. */
export function replaceTexts<T>(value: T, replacementOf: Replacement, type?: string): T {
  if (typeof value === 'string') return (replacementOf(value, type) ?? value) as T;
  if (Array.isArray(value)) {
    const replaced = value.map((one) => replaceTexts(one, replacementOf));
    return replaced.some((one, i) => one !== value[i]) ? (replaced as T) : value;
  }
  if (!isObject(value)) return value;
  const own = typeof value.type === 'string' ? value.type : undefined;
  let changed = false;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    // The words of our own objects, which an id may happen to be.
    if (name === 'type' || name === 'relationshipType') return [name, member];
    const replaced: [string, unknown] = [
      name === 'id' ? name : (replacementOf(name, undefined) ?? name),
      replaceTexts(member, replacementOf, name === 'id' ? own : undefined),
    ];
    changed ||= replaced[0] !== name || replaced[1] !== member;
    return replaced;
  });
  return changed ? (Object.fromEntries(members) as T) : value;
}
