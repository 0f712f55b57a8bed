import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { Count } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import { onlyIs } from '../room/export-store.ts';
import type { Only } from '../room/exporting.ts';
import { SubscriptionRow, type SubscriptionSpec } from './schema.ts';

const columns = sql`tenant, id, spec, secrets, revision, owner, created_at, updated_at, updated_by`;

export function readSubscription(tx: Transaction, tenant: string, id: string): Promise<SubscriptionRow | undefined> {
  return tx.maybe(
    SubscriptionRow,
    sql`select ${columns} from accord.event_subscription where tenant = ${tenant} and id = ${id}`,
  );
}

/** The subscriptions of a tenant, by id in byte order. */
export function loadSubscriptions(tx: Transaction, tenant: string, only?: Only): Promise<SubscriptionRow[]> {
  return tx.many(
    SubscriptionRow,
    sql`select ${columns} from accord.event_subscription where tenant = ${tenant} ${onlyIs(only, sql`id`)} order by id`,
  );
}

const ClaimRow = Type.Object({ tenant: Type.String(), name: Type.String() });

/** Those of some tenants that have filters, in a system transaction. */
export function filteredOf(tx: Transaction, tenants: readonly string[]): Promise<Static<typeof ClaimRow>[]> {
  return tx.many(
    ClaimRow,
    sql`select tenant, id as name from accord.event_subscription
      where tenant = any(${[...tenants]}::text[]) and spec ? 'filters'`,
  );
}

export async function countSubscriptions(tx: Transaction, tenant: string): Promise<number> {
  const row = await tx.one(
    Count,
    sql`select count(*)::int as count from accord.event_subscription where tenant = ${tenant}`,
  );
  return row.count;
}

export async function upsertSubscription(
  tx: Transaction,
  tenant: string,
  { id, spec, secrets, revision }: { id: string; spec: SubscriptionSpec; secrets: Buffer; revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.event_subscription (tenant, id, spec, secrets, revision, owner, updated_by)
    values (${tenant}, ${id}, ${JSON.stringify(spec)}, ${secrets}, ${revision}, ${JSON.stringify(writer.owner)},
      ${writer.actor})
    on conflict (tenant, id) do update set spec = excluded.spec, secrets = excluded.secrets, revision = excluded.revision,
      owner = excluded.owner, updated_at = now(), updated_by = excluded.updated_by`);
}

export async function updateOwner(tx: Transaction, tenant: string, id: string, owner: Owner): Promise<void> {
  await tx.run(sql`
    update accord.event_subscription set owner = ${JSON.stringify(owner)} where tenant = ${tenant} and id = ${id}`);
}

export async function removeSubscription(tx: Transaction, tenant: string, id: string): Promise<void> {
  await tx.run(sql`delete from accord.event_subscription where tenant = ${tenant} and id = ${id}`);
}
