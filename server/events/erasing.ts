/** Erasing a person from the events: they stay, and a stand-in names whom they were about or who acted. */
import { erasedName } from '../core/auth/claims.ts';
import { deniedNameWithout } from '../core/auth/denied-names.ts';
import { limits } from '../core/limits.ts';
import { REPLACEMENT_PREFIX, type Replacement, replaceTexts } from '../pseudonyms/index.ts';
import type { Erasing, RoomErasing } from '../room/erasing.ts';
import type { NamingRow } from './schema.ts';
import { type Place, rewriteEvents, scanEvents } from './store.ts';

export const erasingEvents: RoomErasing = {
  async eraseSome(tx, person, position) {
    const place: Place = position === undefined ? { table: 'inbox', after: 0 } : (JSON.parse(position) as Place);
    const { tenant, id, contacts } = person;
    const texts = [...[id, ...contacts].map((text) => JSON.stringify(text).slice(1)), erasedName(id)];
    const rows = await scanEvents(tx, tenant, place, texts);
    const changed = rows.flatMap((row) => withoutPerson(row, person) ?? []);
    const events = changed.length === 0 ? 0 : await rewriteEvents(tx, tenant, place.table, changed);
    const last = rows.length < limits.eventsErasedScanItemsMax ? undefined : rows.at(-1);
    const onward: Place | undefined = place.table === 'inbox' ? { table: 'log', after: 0 } : undefined;
    const next = last === undefined ? onward : { ...place, after: last.n };
    return { removed: { events }, ...(next === undefined ? {} : { next: JSON.stringify(next) }) };
  },
  isLog: true,
  keeps: [
    {
      what: 'events, with a keyed digest in place of the id and without attributes',
      why: 'Numbers of events have no gaps, so that receivers can prove that they missed none.',
      until: 'the retention of events of the tenant has passed',
    },
    {
      what: 'events that were delivered',
      why: 'Accord does not store them. A receiver that keeps data of persons erases them itself; REGISTER_EVENT of type erased tells that somebody was erased.',
      until: 'their receivers delete them',
    },
  ],
};

/** @returns undefined where the row does not name the person */
export function withoutPerson({ n, key, body }: NamingRow, person: Erasing): NamingRow | undefined {
  const { id, type, isUser, contacts, replacement } = person;
  const replacementOf: Replacement = (text, of) => {
    if (text === id && (of === undefined || of === type)) return replacement;
    // core/auth/name.ts
    if (text === `user:${type}:${id}`) return `user:${type}:${replacement}`;
    // Of a change of configuration: the account of a user, or what belongs to it.
    if (text === `${type}/${id}`) return `${type}/${replacement}`;
    // As above: the tokens of a user of the tenant's own issuer are refused.
    const denied = isUser ? deniedNameWithout(text, id, replacement) : undefined;
    if (denied !== undefined) return denied;
    return contacts.includes(text) || contacts.includes(text.toLowerCase()) ? REPLACEMENT_PREFIX : undefined;
  };
  const about = body.entity as { type?: unknown; id?: unknown } | undefined;
  const own = about?.type === type && about?.id === id && body.attributes !== undefined;
  // REGISTER_EVENT: why a member acted for the user, in its own words.
  const because = isUser && body.userId === id && body.reason !== undefined;
  const spared = { ...(own ? { attributes: {} } : {}), ...(because ? { reason: replacement } : {}) };
  const replaced = replaceTexts(own || because ? { ...body, ...spared } : body, replacementOf);
  const keyed = keyWithout(key, person);
  return replaced === body && keyed === key ? undefined : { n, key: keyed, body: replaced };
}

function keyWithout(key: string, { id, type, isUser, replacement }: Erasing): string {
  const [, kind = '', name = ''] = /^([^/]+)\/(.*)$/s.exec(key) ?? [];
  const denied = isUser && kind === 'denied_token' ? deniedNameWithout(name, id, replacement) : undefined;
  if (denied !== undefined) return `${kind}/${denied}`;
  const keys = [`${type}/${id}`, `${kind}/${type}/${id}`, ...(isUser ? [`consents/${id}`] : [])];
  return keys.includes(key) ? key.slice(0, -id.length) + replacement : key;
}
