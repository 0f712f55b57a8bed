/** All SQL of the issuers room. */
import type { Transaction } from '../core/db/database.ts';
import { sql } from '../core/db/sql.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import { IssuerRow, type IssuerSpec, type TokenMappingSpec } from './schema.ts';

const columns = sql`tenant, name, spec, revision, owner, updated_at, updated_by`;

export function readIssuer(tx: Transaction, tenant: string, name: string): Promise<IssuerRow | undefined> {
  return tx.maybe(
    IssuerRow,
    sql`select ${columns} from accord.trusted_issuer where tenant = ${tenant} and name = ${name}`,
  );
}

/** Issuers by name in byte order: of one tenant, or of all in a system transaction. */
export function loadIssuers(tx: Transaction, tenant?: string): Promise<IssuerRow[]> {
  return tx.many(
    IssuerRow,
    sql`select ${columns} from accord.trusted_issuer
      ${tenant === undefined ? sql`` : sql`where tenant = ${tenant}`} order by tenant collate "C", name collate "C"`,
  );
}

export async function upsertIssuer(
  tx: Transaction,
  tenant: string,
  issuer: { name: string; spec: IssuerSpec; revision: number },
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    insert into accord.trusted_issuer (tenant, name, spec, revision, owner, updated_by)
    values (${tenant}, ${issuer.name}, ${JSON.stringify(issuer.spec)}, ${issuer.revision},
      ${JSON.stringify(writer.owner)}, ${writer.actor})
    on conflict (tenant, name) do update set spec = excluded.spec, revision = excluded.revision, owner = excluded.owner,
      updated_at = now(), updated_by = excluded.updated_by`);
}

export async function updateOwner(tx: Transaction, tenant: string, name: string, owner: Owner): Promise<void> {
  await tx.run(sql`
    update accord.trusted_issuer set owner = ${JSON.stringify(owner)} where tenant = ${tenant} and name = ${name}`);
}

export async function removeIssuer(tx: Transaction, tenant: string, name: string): Promise<void> {
  await tx.run(sql`delete from accord.trusted_issuer where tenant = ${tenant} and name = ${name}`);
}

/** The one part of a tenant's spec that this room writes; the caller holds the tenant's row lock. */
export async function updateTokenMapping(
  tx: Transaction,
  tenant: string,
  mapping: TokenMappingSpec,
  writer: Writer,
): Promise<void> {
  await tx.run(sql`
    update accord.tenant set spec = jsonb_set(spec, '{tokenMapping}', ${JSON.stringify(mapping)}::jsonb),
      updated_at = now(), updated_by = ${writer.actor}
    where tenant = ${tenant}`);
}
