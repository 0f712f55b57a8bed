import type { Transaction } from '../core/db/database.ts';
import { Count } from '../core/db/rows.ts';
import { sql } from '../core/db/sql.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import { listNames, onlyIs } from '../room/export-store.ts';
import type { Only } from '../room/exporting.ts';
import { ClientRow, type ClientSpec, SecretRow } from './schema.ts';

const columns = sql`tenant, client_id, spec, revision, owner, created_at, updated_at, updated_by`;
const secretColumns = sql`tenant, client_id, id, digest, created_at, created_by, expires_at`;

export function readClient(tx: Transaction, tenant: string, clientId: string): Promise<ClientRow | undefined> {
  return tx.maybe(
    ClientRow,
    sql`select ${columns} from accord.oauth_client where tenant = ${tenant} and client_id = ${clientId}`,
  );
}

/** Clients by id in byte order: of one tenant, or of all in a system transaction. */
export function loadClients(tx: Transaction, tenant?: string, only?: Only): Promise<ClientRow[]> {
  return tx.many(
    ClientRow,
    sql`select ${columns} from accord.oauth_client
      ${tenant === undefined ? sql`` : sql`where tenant = ${tenant}`} ${onlyIs(only, sql`client_id`)}
      order by tenant collate "C", client_id collate "C"`,
  );
}

export const clientNames = (tx: Transaction, tenant: string) =>
  listNames(tx, sql`select client_id as name, owner from accord.oauth_client where tenant = ${tenant}`);

export async function countClients(tx: Transaction, tenant: string): Promise<number> {
  const row = await tx.one(Count, sql`select count(*)::int as count from accord.oauth_client where tenant = ${tenant}`);
  return row.count;
}

export async function upsertClient(
  tx: Transaction,
  tenant: string,
  { spec, revision }: { spec: ClientSpec; revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.oauth_client (tenant, client_id, spec, revision, owner, updated_by)
    values (${tenant}, ${spec.clientId}, ${JSON.stringify(spec)}, ${revision}, ${JSON.stringify(writer.owner)},
      ${writer.actor})
    on conflict (tenant, client_id) do update set spec = excluded.spec, revision = excluded.revision,
      owner = excluded.owner, updated_at = now(), updated_by = excluded.updated_by`);
}

export async function updateOwner(tx: Transaction, tenant: string, clientId: string, owner: Owner): Promise<void> {
  await tx.run(sql`
    update accord.oauth_client set owner = ${JSON.stringify(owner)} where tenant = ${tenant} and client_id = ${clientId}`);
}

export async function removeClient(tx: Transaction, tenant: string, clientId: string): Promise<void> {
  await tx.run(sql`delete from accord.oauth_client where tenant = ${tenant} and client_id = ${clientId}`);
}

/** Secrets, the newest first: of one client, of a tenant's clients, or of all in a system transaction. */
export function loadSecrets(tx: Transaction, tenant?: string, clientId?: string): Promise<SecretRow[]> {
  return tx.many(
    SecretRow,
    sql`select ${secretColumns} from accord.oauth_client_secret
      ${tenant === undefined ? sql`` : sql`where tenant = ${tenant}`}
      ${clientId === undefined ? sql`` : sql`and client_id = ${clientId}`} order by created_at desc, id`,
  );
}

export async function insertSecret(
  tx: Transaction,
  tenant: string,
  secret: Omit<SecretRow, 'tenant' | 'expires_at'>,
): Promise<void> {
  await tx.run(sql`
    insert into accord.oauth_client_secret (tenant, client_id, id, digest, created_at, created_by)
    values (${tenant}, ${secret.client_id}, ${secret.id}, ${secret.digest}, ${secret.created_at}, ${secret.created_by})`);
}

/** @param expiresAt null: it does not expire */
export async function expireSecret(
  tx: Transaction,
  tenant: string,
  id: string,
  expiresAt: string | null,
): Promise<void> {
  await tx.run(sql`
    update accord.oauth_client_secret set expires_at = ${expiresAt} where tenant = ${tenant} and id = ${id}`);
}

/** @param ids those of a client; all of them where absent */
export async function removeSecrets(
  tx: Transaction,
  tenant: string,
  clientId: string,
  ids?: readonly string[],
): Promise<number> {
  return tx.run(sql`
    delete from accord.oauth_client_secret where tenant = ${tenant} and client_id = ${clientId}
      ${ids === undefined ? sql`` : sql`and id = any(${ids}::uuid[])`}`);
}
