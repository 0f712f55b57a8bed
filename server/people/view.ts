/** How items of a time line are shown, and to whom how much, pure. */
import { shownId, shownName } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import type { ItemRow, ItemView, Person, RecordRow, RecordView } from './schema.ts';

type Named = { type?: string; id?: string };

/** Who reads, and of whom. `types`: those that the tenant has, because a request may state any text as one. */
type Reading = { role: Role; person: Pick<Person, 'type' | 'id'>; types: { has: (type: string) => boolean } };

/**
 * Support knows whom it asks about, and sees what happened to it; of others it sees the type, of objects nothing, of reasons those of mails,
 * and of decisions the action where it is the name of a policy.
 */
export function itemView<Row extends ItemRow | RecordRow>(
  { at, id, kind, data }: Row,
  { role, person, types }: Reading,
): Row extends ItemRow ? ItemView : RecordView {
  const masked = role === 'support';
  const {
    what,
    by,
    name,
    reason,
    contact,
    byPolicy,
    action,
    subject: _subject,
    ...rest
  } = data as Record<string, unknown> & {
    what?: string;
  };
  const other = (named: unknown) => {
    const { type, id: named_id } = named as Named;
    const isPerson = type === person.type && named_id === person.id;
    if (isPerson || !masked) return named as Named;
    const shownType = typeof type === 'string' && !types.has(type) ? '***' : type;
    return { type: shownType, id: typeof named_id === 'string' ? shownId(role, named_id) : undefined };
  };
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const outcome = text(rest.outcome);
  const shownOutcome = kind === 'decision' && masked && outcome !== 'allow' && outcome !== 'deny' ? '***' : outcome;
  const view = {
    ...rest,
    ...{ at, id, kind, what: kind === 'decision' ? (shownOutcome ?? 'object') : (text(what) ?? 'created') },
    outcome: shownOutcome,
    action: masked && byPolicy === false && typeof action === 'string' ? '***' : action,
    from: rest.from && other(rest.from),
    to: rest.to && other(rest.to),
    resource: rest.resource && other(rest.resource),
    name: kind === 'audit' && masked ? '***' : name,
    // That of a mail is one of a few words.
    reason: masked && kind !== 'mail' ? undefined : reason,
    contact: contact === undefined || contact === null ? undefined : shownId(role, contact as string),
    by: text(by) === undefined ? undefined : byOf(role, kind, by as string),
  };
  return withoutNulls(view) as ItemView & RecordView;
}

/** The ledger names actors as type/id, the others as callers are named. */
function byOf(role: Role, kind: ItemRow['kind'] | RecordRow['kind'], by: string): string {
  if (kind !== 'consent') return shownName(role, by);
  return role === 'support' ? `${by.split('/', 1)[0]}/***` : by;
}

function withoutNulls(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (member === null || member === undefined) return [];
      if (typeof member !== 'object') return [[name, member]];
      const inner = withoutNulls(member as Record<string, unknown>);
      return Object.keys(inner).length === 0 ? [] : [[name, inner]];
    }),
  );
}
