/** Taking a person's id out of an audit entry, pure. Entries name actors and resources as `type/id`, callers as `user:type:id`. */

import { deniedNameWithout } from '../core/auth/denied-names.ts';

type Person = { type: string; id: string; isUser: boolean; replacement: string };
type Names = { actor: unknown; object_name: string; detail: unknown };

/** The entry with the replacement of the person's id; the same object when it does not name the person. */
export function withoutPerson<T extends Names>(entry: T, person: Person): T {
  const actor = replaced(entry.actor, person);
  const object_name = nameWithout(entry.object_name, person);
  const detail = replaced(entry.detail, person);
  const same = actor === entry.actor && object_name === entry.object_name && detail === entry.detail;
  return same ? entry : { ...entry, actor, object_name, detail };
}

/** `user/alice`, or a relationship: `user/alice is_owner_of car/1`. */
function nameWithout(name: string, { type, id, isUser, replacement }: Person): string {
  const [named, instead] = [`${type}/${id}`, `${type}/${replacement}`];
  if (name === named) return instead;
  let other = name;
  if (other.startsWith(`${named} `)) other = instead + other.slice(named.length);
  if (other.endsWith(` ${named}`)) other = other.slice(0, -named.length) + instead;
  return (isUser ? deniedNameWithout(other, id, replacement) : undefined) ?? other;
}

/** Members whose values are the service's own words, which an id may happen to be. */
const words = new Set(['role', 'type', 'kind', 'action', 'source', 'outcome']);

function replaced(value: unknown, person: Person): unknown {
  const { type, id, replacement } = person;
  if (typeof value === 'string') {
    if (value === id) return replacement;
    return value === `user:${type}:${id}` ? `user:${type}:${replacement}` : nameWithout(value, person);
  }
  if (typeof value !== 'object' || value === null) return value;
  // Why a member acted for a user, in its own words.
  const { userId, invitor, to } = value as { userId?: unknown; invitor?: unknown; to?: unknown };
  const isOfPerson = (person.isUser && userId === id) || [invitor, to].includes(`${type}/${id}`);
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => {
    if (name === 'reason' && isOfPerson) return [name, replacement];
    return [name, words.has(name) ? member : replaced(member, person)];
  });
  if (entries.every(([name, member]) => member === (value as Record<string, unknown>)[name])) return value;
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}
