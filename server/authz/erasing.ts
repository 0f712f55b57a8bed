/**
 * Erasing a person from the decision log: records of decisions that it asked for or that were about it go; in those about
 * others its id is replaced. Records that are still to be written get the same replacement (withoutErased).
 */
import type { Transaction } from '../core/db/database.ts';
import type { FairScheduler } from '../core/fair-scheduler.ts';
import { limits } from '../core/limits.ts';
import {
  lockLogErasingShared,
  type Pseudonymizer,
  pseudonymOf,
  REPLACEMENT_PREFIX,
  type Replacement,
  readErased,
  tenantsWithErased,
  textsOf,
} from '../pseudonyms/index.ts';
import { type Erasing, type RoomErasing, scanning } from '../room/erasing.ts';
import { withReplacements } from './erased-texts.ts';
import { type DecisionRecord, deleteDecisions, type NamingRow, rewriteDecisions, scanDecisions } from './store.ts';

/** @param scheduler others have theirs between the records of a portion */
export function erasingDecisions(scheduler: FairScheduler): RoomErasing {
  return {
    eraseSome: scanning(
      (tx, { tenant, type, id, contacts, isUser }, after) =>
        scanDecisions(tx, tenant, {
          texts: [id, ...contacts].map((text) => JSON.stringify(text)),
          // A subject without a type has the default one.
          whose: { caller: `user:${type}:${id}`, subject: { type, id, isDefault: isUser } },
          after,
        }),
      async (tx, person, rows) => {
        const { tenant } = person;
        const pace = scheduler.pace(tenant);
        const own = rows.filter((row) => row.own);
        const others: NamingRow[] = [];
        for (const { at, id, request, answer } of rows) {
          if (request === null || answer === null) continue;
          const texts = { request, answer };
          const without = withReplacements(texts, replacementsFor(person));
          if (without !== texts) others.push({ at, id, ...without });
          await pace();
        }
        return {
          decisions: own.length === 0 ? 0 : await deleteDecisions(tx, tenant, own),
          decisionsRewritten: others.length === 0 ? 0 : await rewriteDecisions(tx, tenant, others),
        };
      },
    ),
    isLog: true,
    keeps: [
      {
        what: 'records of decisions about others in which the id is part of a longer text, such as a path',
        why: 'Texts that equal the id are replaced; whether a part of a text is the id cannot be told.',
        until: 'the partitions of their months are dropped (docs/operations.md)',
      },
      {
        what: 'the same id of an actor or resource of another type, in records of decisions and in audit entries',
        why: 'It names somebody or something else. To erase that too, erase the actor of that type.',
        until: 'it is erased, or the partitions of their months are dropped (docs/operations.md)',
      },
    ],
  };
}

function replacementsFor({ id, type, contacts, replacement }: Erasing): Replacement {
  return (text, of) => {
    if (text === id && (of === undefined || of === type)) return replacement;
    return contacts.includes(text) ? REPLACEMENT_PREFIX : undefined;
  };
}

/**
 * The records as they may be written: with stand-ins for the ids of actors that were erased, and for their addresses. The transaction that writes them
 * holds off erasing from here on.
 */
export async function withoutErased(
  pseudonymizer: Pseudonymizer,
  tx: Transaction,
  records: readonly DecisionRecord[],
): Promise<readonly DecisionRecord[]> {
  const tenants = records.map((record) => record.tenant);
  const [, erasing] = await Promise.all([lockLogErasingShared(tx, tenants), tenantsWithErased(tx, tenants)]);
  if (erasing.size === 0) return records;
  const bounded = records.map((record) => (erasing.has(record.tenant) ? withinBounds(record) : record));
  const concerned = bounded.filter((record) => erasing.has(record.tenant));
  const pseudonyms = await pseudonymsOf(pseudonymizer, concerned);
  const erased = await readErased(
    tx,
    [...pseudonyms.values()].flatMap((one) => [...one.values()]),
  );
  if (erased.length === 0) return bounded;
  return bounded.map((record) => {
    const of = pseudonyms.get(record.tenant);
    return of === undefined ? record : withStandIns(record, standIns(of, erased));
  });
}

type Erased = Awaited<ReturnType<typeof readErased>>[number];

/** What stands for texts that are ids or addresses of those that were erased. @param pseudonyms of the texts */
export function standIns(pseudonyms: ReadonlyMap<string, Pseudonymous>, erased: readonly Erased[]): Replacement {
  const byPseudonym = Map.groupBy(erased, keyOf);
  return (text, type) => {
    const pseudonymous = pseudonyms.get(text);
    if (pseudonymous === undefined) return undefined;
    const found = byPseudonym.get(keyOf(pseudonymous)) ?? [];
    const isId = found.some((one) => one.type !== null && (type === undefined || one.type === type));
    if (isId) return REPLACEMENT_PREFIX + pseudonymous.pseudonym;
    return found.some((one) => one.type === null) ? REPLACEMENT_PREFIX : undefined;
  };
}

type Texts = Pick<DecisionRecord, 'caller' | 'request' | 'answer'>;

export function withStandIns<R extends Texts>(record: R, replacementOf: Replacement): R {
  const { caller, request, answer } = record;
  const [, type, id] = CALLER.exec(caller) ?? [];
  const name = id === undefined ? undefined : replacementOf(id, type);
  return {
    ...record,
    caller: name === undefined ? caller : `user:${type}:${name}`,
    // Not of the record: where nothing is replaced it gives back what it got, with the caller.
    ...withReplacements({ request, answer }, replacementOf),
  };
}

/** A record that is quickly looked through: of one with very many texts only who, what and outcome. */
export function withinBounds<R extends Texts>(record: R): R {
  const { request, answer } = record;
  if (textsOf([request, answer], limits.erasedTextsMax).size <= limits.erasedTextsMax) return record;
  const named = (entity: Record<string, unknown> | undefined) => ({
    ...(typeof entity?.id === 'string' ? { id: entity.id } : {}),
    ...(typeof entity?.type === 'string' ? { type: entity.type } : {}),
  });
  const { action, subject, resource } = request;
  const outcome = typeof answer.outcome === 'string' ? answer.outcome : {};
  return {
    ...record,
    request: { ...(action === undefined ? {} : { action }), subject: named(subject), resource: named(resource) },
    answer: { outcome },
  };
}

/** core/auth/name.ts */
const CALLER = /^user:([^:]*):(.*)$/s;

export type Pseudonymous = { tenant: string; pseudonym: string };
const keyOf = ({ tenant, pseudonym }: Pseudonymous) => `${tenant} ${pseudonym}`;

/** The pseudonym of each text that may be an id, by tenant and text; some at a time, because others wait meanwhile. */
export async function pseudonymsOf(
  pseudonymizer: Pseudonymizer,
  records: readonly (Texts & { tenant: string })[],
): Promise<Map<string, Map<string, Pseudonymous>>> {
  const pseudonyms = new Map<string, Map<string, Pseudonymous>>();
  let count = 0;
  for (const { tenant, request, answer, caller } of records) {
    const of = pseudonyms.get(tenant) ?? new Map<string, Pseudonymous>();
    pseudonyms.set(tenant, of);
    const texts = textsOf([request, answer], limits.erasedTextsMax);
    const [, , id] = CALLER.exec(caller) ?? [];
    if (id !== undefined) texts.add(id);
    for (const text of texts) {
      if (of.has(text) || text === '' || text.length > limits.entityIdBytesMax) continue;
      of.set(text, { tenant, pseudonym: pseudonymOf(pseudonymizer, tenant, text) });
      if (++count % limits.eraseScanItemsMax === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return pseudonyms;
}
