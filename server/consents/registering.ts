/**
 * The verb that registers consents: checks what is sent, has it registered together with what others send (batch-writer.ts),
 * and makes results of the outcomes.
 */
import { Problem } from '../core/problems.ts';
import { denied, type RegisterEntry } from '../ledger/index.ts';
import type { RecordWritten } from '../writes/index.ts';
import type { ConsentBatchWriter, Outcome, Wanted } from './batch-writer.ts';
import { type ConsentServices, concernedUser, type RequestContext } from './request-context.ts';
import { checkProof, consentView } from './rules.ts';
import type { ConsentItem, ItemResult } from './schema.ts';

/**
 * Registers what is sent; each item by itself, in its order. A refused item of a list is in the ledger as denied; a single
 * one is thrown, and recorded by the caller.
 * @param batch whether it was sent as a list: then a refusal is the item's result and not the request's
 * @returns one result an item
 * @throws Problem of the only item, without `batch`
 */
export async function registerConsents(
  services: ConsentServices & { batchWriter: ConsentBatchWriter },
  context: RequestContext,
  items: readonly ConsentItem[],
  batch: boolean,
): Promise<RecordWritten<ItemResult[]>> {
  const outcomes: Outcome[] = [];
  const wanted: Wanted[] = [];
  const places: number[] = [];
  for (const [index, item] of items.entries()) {
    const place = batch ? `/${index}` : '';
    try {
      checkProof(item, place);
      wanted.push({ context, item, userId: concernedUser(context, item.userId, `${place}/userId`) });
      places.push(index);
    } catch (error) {
      if (!batch || !(error instanceof Problem)) throw error;
      outcomes[index] = { rejected: error };
    }
  }
  const deniedEntries = outcomes.flatMap((outcome, index) =>
    refusalOf(services, context, items[index] as ConsentItem, outcome),
  );
  const { result, revision } = await services.batchWriter.register(context.tenant, {
    wanted,
    deniedEntries,
    batch,
    idempotency: context.idempotency,
  });
  for (const [i, outcome] of result.entries()) outcomes[places[i] as number] = outcome;
  return { result: outcomes.map((outcome) => resultOf(outcome, batch)), revision };
}

function refusalOf(
  { clock }: ConsentServices,
  context: RequestContext,
  item: ConsentItem,
  outcome: Outcome,
): RegisterEntry[] {
  if (!('rejected' in outcome)) return [];
  const { name, version, document, userId } = item;
  const about = { name, version, document, ...(userId === undefined ? {} : { userId }) };
  return [denied({ ...context, tenant: context.requestTenant }, about, outcome.rejected.code, clock.now())];
}

function resultOf(outcome: Outcome, batch: boolean): ItemResult {
  if ('row' in outcome) return { status: outcome.created ? 201 : 200, consent: consentView(outcome.row) };
  if (!batch) throw outcome.rejected;
  const { code, title, status, message } = outcome.rejected;
  return { status, problem: { code, title, detail: message } };
}
