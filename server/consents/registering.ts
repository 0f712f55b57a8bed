/**
 * The verb that registers consents. A user's consents are written one request after the other (holdUser), so that what is
 * judged is what is written to; the clock is read when it is the request's turn.
 */
import type { Transaction } from '../core/db/database.ts';
import { Problem } from '../core/problems.ts';
import { appendIn, type RegisterEntry } from '../ledger/index.ts';
import { type RecordWritten, writeRecords } from '../relationships/index.ts';
import { tenantProblem } from '../tenants/index.ts';
import { type Asking, type ConsentServices, concernedUser, denial, entryOf } from './governing.ts';
import { checkProof, checkRegistrable, consentView, documentOf } from './rules.ts';
import type { ConsentItem, ConsentRow, ItemResult } from './schema.ts';
import { holdUser, insertConsent, readPasts } from './store.ts';

type Wanted = { item: ConsentItem; userId: string; index: number };

/**
 * Registers what is sent; each item by itself, in its order. An item that is refused is in the ledger as denied.
 * @param batch whether it was sent as a list: then a refusal is the item's result and not the request's
 * @returns one result an item
 * @throws Problem of the only item, without `batch`
 */
export async function registerConsents(
  services: ConsentServices,
  asking: Asking,
  items: readonly ConsentItem[],
  batch: boolean,
): Promise<RecordWritten<ItemResult[]>> {
  const results: ItemResult[] = [];
  const denied: RegisterEntry[] = [];
  const refuse = (index: number, item: ConsentItem, error: unknown) => {
    if (!batch || !(error instanceof Problem) || error.status >= 500) throw error;
    const { code, title, status, message } = error;
    results[index] = { status, problem: { code, title, detail: message } };
    const { name, version, document, userId } = item;
    const about = { name, version, document, ...(userId === undefined ? {} : { userId }) };
    denied.push(denial(services, asking, about, code));
  };
  const wanted: Wanted[] = [];
  for (const [index, item] of items.entries()) {
    const place = batch ? `/${index}` : '';
    try {
      checkProof(item, place);
      wanted.push({ item, userId: concernedUser(services, asking, item.userId, `${place}/userId`), index });
    } catch (error) {
      refuse(index, item, error);
    }
  }
  const writer = { tenant: asking.tenant, actor: '', requestId: asking.requestId };
  return writeRecords(services, writer, async (tx) => {
    const entries: RegisterEntry[] = [];
    for (const [userId, its] of byUser(wanted)) {
      await registerFor(services, asking, tx, userId, its, { results, entries, refuse });
    }
    await appendIn(tx, asking.tenant, [...entries, ...denied]);
    return results;
  });
}

/** In the order in which users are held: two batches then never wait for one another. */
function byUser(wanted: readonly Wanted[]): [string, Wanted[]][] {
  return [...Map.groupBy(wanted, (one) => one.userId)].sort(([a], [b]) => (a < b ? -1 : 1));
}

type Outcome = {
  results: ItemResult[];
  entries: RegisterEntry[];
  refuse: (index: number, item: ConsentItem, error: unknown) => void;
};

async function registerFor(
  services: ConsentServices,
  asking: Asking,
  tx: Transaction,
  userId: string,
  wanted: readonly Wanted[],
  { results, entries, refuse }: Outcome,
): Promise<void> {
  const { tenant } = asking;
  if (!(await holdUser(tx, tenant, userId))) throw tenantProblem('tenant_not_found');
  const now = services.clock.now();
  const name = wanted.every((one) => one.item.name === wanted[0]?.item.name) ? (wanted[0] as Wanted).item.name : null;
  const given: ConsentRow[] = await readPasts(tx, tenant, [{ n: 0, userId, name }]);
  const { definitions } = services.snapshotOf(tenant);
  for (const { item, index } of wanted) {
    const its = given.filter((row) => row.definition === item.name);
    const { version, document } = item;
    const about = { userId, name: item.name, version, document };
    try {
      const definition = definitions.get(item.name);
      documentOf(definition, item);
      const before = its.find((row) => isOf(row, item));
      if (before !== undefined) {
        results[index] = { status: 200, consent: consentView(before) };
        entries.push(entryOf(asking, { ...about, type: 'registered', time: now, outcome: 'already_given' }));
        continue;
      }
      checkRegistrable(definition, item, its, now);
      const row = await insert(tx, tenant, userId, item, now);
      given.push(row);
      results[index] = { status: 201, consent: consentView(row) };
      entries.push(entryOf(asking, { ...about, type: 'registered', time: now, outcome: 'registered' }));
    } catch (error) {
      refuse(index, item, error);
    }
  }
}

function isOf(row: ConsentRow, { version, document }: ConsentItem): boolean {
  return row.version === version && row.document === document.version && row.language === document.language;
}

async function insert(
  tx: Transaction,
  tenant: string,
  userId: string,
  item: ConsentItem,
  now: number,
): Promise<ConsentRow> {
  const givenAt = new Date(now).toISOString();
  const id = await insertConsent(tx, tenant, userId, item, givenAt);
  const { name, version, document, proof } = item;
  return {
    ...{ id, user_id: userId, definition: name, version, document: document.version, language: document.language },
    ...{ given_at: givenAt, proof: proof ?? null, invited_at: null },
  };
}
