/** The SQL that records sealed entries as events. */
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';
import { insertSelectedEvents } from '../events/index.ts';
import { registerEvent } from './events.ts';
import { eventLine } from './store.ts';

/** As core/auth/name.ts names callers. */
const requestor = sql`case when actor_id is null then 'erased' when actor_type in ('client', 'member')
  then actor_type || ':' || actor_id else 'user:' || actor_type || ':' || actor_id end`;

/** In the transaction that seals them, in the order of the chain. */
export async function tellOfEntries(
  tx: Transaction,
  tenant: string,
  { first, last }: { first: number; last: number },
): Promise<void> {
  await insertSelectedEvents(
    tx,
    sql`select tenant, time, ${registerEvent.name}, coalesce('consents/' || user_id, 'consents'),
        (${eventLine}::jsonb || jsonb_build_object('requestor', ${requestor}))::json
      from accord.ledger_entry where tenant = ${tenant} and sequence between ${first} and ${last} order by sequence`,
  );
}
