/** Decisions as they are shown while persons are being erased: as the decision log shows them. */
import { type DecisionTexts, withoutErasedPersons } from '../authz/index.ts';
import type { PeopleServices } from './actions.ts';
import type { ItemRow, RecordRow } from './schema.ts';

type Entity = { type?: string | null; id?: string | null };
type Decision = {
  outcome: string | null;
  reason: string | null;
  action: string | null;
  subject: Entity;
  resource: Entity;
  by: string;
};

/** Without the decisions of the erased themselves, and with stand-ins for their ids in those of others. */
export async function withoutErasedDecisions<Row extends ItemRow | RecordRow>(
  { database, encrypter }: PeopleServices,
  tenant: string,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const decisions = rows.filter(({ kind }) => kind === 'decision');
  const records = decisions.map((row) => recordOf(row.id, row.data as Decision));
  const kept = await withoutErasedPersons({ database, pseudonymizer: encrypter }, tenant, records);
  if (kept === records) return rows;
  const shown = new Map(kept.map((record) => [record.id, record]));
  return rows.flatMap((row) => {
    if (row.kind !== 'decision') return [row];
    const record = shown.get(row.id);
    if (record === undefined) return [];
    const { caller: by, request, answer } = record;
    return [{ ...row, data: { ...row.data, by, resource: request.resource, reason: answer.reason } }];
  });
}

function recordOf(id: string, { outcome, reason, action, subject, resource, by }: Decision) {
  const named = ({ type, id: of }: Entity) => ({ ...(type && { type }), ...(of && { id: of }) });
  const request = {
    ...(action === null ? {} : { action }),
    ...{ subject: named(subject), resource: named(resource) },
  } as DecisionTexts['request'];
  const answer = {
    ...(outcome === null ? {} : { outcome }),
    ...(reason === null ? {} : { reason }),
  } as DecisionTexts['answer'];
  return { id, caller: by, request, answer };
}
