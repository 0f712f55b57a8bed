/**
 * Records as they are shown while persons are being erased, which takes its time: as they will be when it is done. What is
 * read here may still be there.
 */
import type { Database } from '../core/db/database.ts';
import {
  hasErased,
  type Pseudonymizer,
  pseudonymOf,
  type Replacement,
  readErased,
  replaceTexts,
  textsOf,
} from '../pseudonyms/index.ts';
import { type Pseudonymous, pseudonymsOf, standIns, withinBounds, withStandIns } from './erasing.ts';
import { authzProblem } from './problems.ts';
import type { DecisionRow } from './store.ts';

type Services = { database: Database; pseudonymizer: Pseudonymizer };

/** What of a record may name persons. */
export type DecisionTexts = Pick<DecisionRow, 'caller' | 'request' | 'answer'>;

/** Of what an explanation is given. */
const TEXTS_MAX = 100_000;

/** Without the records of the erased themselves, and with stand-ins for their ids in those of others. */
export async function withoutErasedPersons<Row extends DecisionTexts>(
  { database, pseudonymizer }: Services,
  tenant: string,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (rows.length === 0 || !(await database.read(tenant, (tx) => hasErased(tx, tenant)))) return rows;
  const records = rows.map((row) => withinBounds(row));
  const named = records.map(({ caller, request, answer }) => ({ tenant, caller, request, answer }));
  const pseudonyms = (await pseudonymsOf(pseudonymizer, named)).get(tenant) ?? new Map<string, Pseudonymous>();
  const erased = await database.read(tenant, (tx) => readErased(tx, [...pseudonyms.values()]));
  if (erased.length === 0) return rows;
  const replacementOf = standIns(pseudonyms, erased);
  return records.flatMap((row) => {
    const shown = withStandIns(row, replacementOf);
    const isOwn = shown.caller !== row.caller || shown.request.subject?.id !== row.request.subject?.id;
    return isOwn ? [] : [shown];
  });
}

/** Facts with stand-ins for ids of the erased. @throws Problem decision_of_erased where there is too much to look through */
export async function withoutErasedIds<T>({ database, pseudonymizer }: Services, tenant: string, facts: T): Promise<T> {
  if (!(await database.read(tenant, (tx) => hasErased(tx, tenant)))) return facts;
  const texts = textsOf(facts, TEXTS_MAX);
  if (texts.size > TEXTS_MAX) throw authzProblem('decision_of_erased');
  const pseudonyms = new Map(
    [...texts].map((text) => [text, { tenant, pseudonym: pseudonymOf(pseudonymizer, tenant, text) }]),
  );
  const erased = await database.read(tenant, (tx) => readErased(tx, [...pseudonyms.values()]));
  if (erased.length === 0) return facts;
  const replacementOf: Replacement = standIns(pseudonyms, erased);
  return replaceTexts(facts, replacementOf);
}
