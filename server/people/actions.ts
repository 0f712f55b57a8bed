/** The verbs of the people room. They read, and where support reads about somebody, the audit says about whom. */
import type { Caller } from '../core/auth/schema.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { contactDigestOf } from '../invitations/index.ts';
import { mailRecipientDigest } from '../mail/index.ts';
import { checkEntity, entitiesPage } from '../relationships/index.ts';
import type { WriteServices } from '../writes/index.ts';
import { write } from '../writes/index.ts';
import type { BoundRow, FoundPerson, ItemRow, Place, SeenRow, TimelineKind, Truncated } from './schema.ts';
import { findByAddress, isKnown, readBound, readSeen, readTimeline } from './store.ts';

export type PeopleServices = WriteServices & { encrypter: Encrypter };
const TIMELINE = 'timeline';
type Member = Extract<Caller, { kind: 'member' }>;
type Named = { type: string; id: string };
type Asking = { member: Member; requestId: string; defaultType: string };

/** @throws Problem invalid_request */
export async function readPerson(
  services: PeopleServices,
  asking: Asking,
  named: Named,
): Promise<{ row: SeenRow; truncated: Truncated | undefined }> {
  const { tenant } = asking.member;
  checkEntity(named, '/params');
  await recordUse(services, asking, named);
  const person = { ...named, isUser: named.type === asking.defaultType };
  return services.database.tenantSnapshot(tenant, async (tx) => {
    const row = await readSeen(tx, tenant, person);
    return { row, truncated: truncatedBy(await readBound(tx, tenant, person)) };
  });
}

const truncatedBy = ({ exceeded }: BoundRow): Truncated | undefined =>
  exceeded ? [{ kind: 'relationship', recordsMax: limits.personRecordsMax }] : undefined;

/** `asOf`: when the first page was read. Rows of clocks that are ahead were there, too. */
export type TimelinePage = { rows: ItemRow[]; asOf: string; truncated: Truncated | undefined };

/** A page, newest first, and one more where there is one. @throws Problem invalid_request */
export async function readTimelineOf(
  services: PeopleServices,
  asking: Asking,
  named: Named,
  page: { kinds: ReadonlySet<TimelineKind>; before?: Place; limit: number },
): Promise<TimelinePage> {
  const { tenant } = asking.member;
  checkEntity(named, '/params');
  await recordUse(services, asking, named);
  const isUser = named.type === asking.defaultType;
  return services.database.tenantSnapshot(tenant, async (tx) => {
    const recipients = page.kinds.has('mail') ? await recipientsOf(services, asking, { ...named, isUser }, tx) : [];
    const key = services.encrypter.digest(Buffer.from(TIMELINE), ['people', tenant, 'items']);
    const rows = await readTimeline(tx, tenant, { ...named, isUser, recipients, key }, page);
    const bound = await readBound(tx, tenant, { ...named, isUser }, page.before);
    const newest = rows[0]?.at ?? bound.now;
    return {
      rows,
      asOf: page.before?.asOf ?? (newest > bound.now ? newest : bound.now),
      truncated: page.kinds.has('relationship') ? truncatedBy(bound) : undefined,
    };
  });
}

type Reading = Parameters<typeof readSeen>[0];

/** Mails know their recipients by digests: those of the address of the account, and of an attribute `email`. */
async function recipientsOf(
  { encrypter }: PeopleServices,
  { member }: Asking,
  person: Named & { isUser: boolean },
  tx: Reading,
) {
  const { email, attributes } = await readSeen(tx, member.tenant, person);
  const addresses = [email, attributes?.email].filter((one): one is string => typeof one === 'string' && one !== '');
  const written = addresses.flatMap((one) => [one, one.toLowerCase()]);
  return [...new Set(written)].map((one) => mailRecipientDigest(encrypter, member.tenant, one));
}

/** The audit of a request says which route support used; here it says about whom, too. */
async function recordUse(services: PeopleServices, { member, requestId }: Asking, { type, id }: Named): Promise<void> {
  if (member.role !== 'support') return;
  const by = { actor: `member:${member.email}`, requestId };
  await write(services, { tenant: member.tenant, by }, { locks: 'records' }, async (unit) => {
    unit.audit({ action: 'read', kind: 'actor', name: `${type}/${id}` });
  });
}

export type Search = { type: string } & ({ id: string } | { idPrefix: string; after: string; limit: number });

/** Actors of a type by id: the one that is named, or those that begin with a prefix, and one more than the limit. */
export async function findById(services: PeopleServices, asking: Asking, search: Search): Promise<FoundPerson[]> {
  const { tenant } = asking.member;
  const { type } = search;
  const isUser = type === asking.defaultType;
  const known = (id: string) => services.database.read(tenant, (tx) => isKnown(tx, tenant, { type, id, isUser }));
  if ('id' in search) {
    const named = { type, id: search.id };
    checkEntity(named, '/query');
    await recordUse(services, asking, named);
    return (await known(search.id)) ? [{ ...named, by: 'id' }] : [];
  }
  const { idPrefix, after, limit } = search;
  const now = new Date(services.clock.now()).toISOString();
  // What begins with the prefix lies together behind it; the prefix itself may be an id.
  const first = after === '' && idPrefix !== '' && (await known(idPrefix)) ? [idPrefix] : [];
  const page = { tenant, type, after: after === '' ? idPrefix : after, count: limit + 1, now };
  const listed = await services.database.read(tenant, (tx) => entitiesPage(tx, page));
  const ids = [...first, ...listed.filter((id) => id.startsWith(idPrefix))].slice(0, limit + 1);
  return ids.map((id) => ({ type, id, by: 'id' as const }));
}

/** @throws Problem invalid_request */
export async function findByEmail(services: PeopleServices, asking: Asking, email: string): Promise<FoundPerson[]> {
  const { tenant } = asking.member;
  const { address, digest } = contactDigestOf(services.encrypter, tenant, email, '/query/email');
  const about = { email: address, digest, defaultType: asking.defaultType };
  const { account, invitation } = await services.database.tenantSnapshot(tenant, (tx) =>
    findByAddress(tx, tenant, about),
  );
  const isOther = (one: Named) => !account.some(({ type, id }) => type === one.type && id === one.id);
  return [
    ...account.map((one) => ({ ...one, by: 'account' as const })),
    ...invitation.filter(isOther).map((one) => ({ ...one, by: 'invitation' as const })),
  ];
}
