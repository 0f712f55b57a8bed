import { type Static, Type } from 'typebox';
import type { KeysFinding } from '../core/auth/jwks.ts';
import type { Transaction } from '../core/db/database.ts';
import { Json, Nullable } from '../core/db/rows.ts';
import { column, sql } from '../core/db/sql.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import { onlyIs } from '../room/export-store.ts';
import type { Only } from '../room/exporting.ts';
import { IssuerRow, type IssuerSpec, type TokenMappingSpec } from './schema.ts';

const columns = sql`tenant, name, spec, revision, owner, updated_at, updated_by`;

export function readIssuer(tx: Transaction, tenant: string, name: string): Promise<IssuerRow | undefined> {
  return tx.maybe(
    IssuerRow,
    sql`select ${columns} from accord.trusted_issuer where tenant = ${tenant} and name = ${name}`,
  );
}

/** Issuers by name in byte order: of one tenant, or of all in a system transaction. */
export function loadIssuers(tx: Transaction, tenant?: string, only?: Only): Promise<IssuerRow[]> {
  return tx.many(
    IssuerRow,
    sql`select ${columns} from accord.trusted_issuer
      ${tenant === undefined ? sql`` : sql`where tenant = ${tenant}`} ${onlyIs(only, sql`name`)}
      order by tenant collate "C", name collate "C"`,
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

const sameUrls = sql`k.issuer = t.spec ->> 'issuer' and k.jwks_uri = coalesce(t.spec ->> 'jwksUri', '')`;

/** What this server found, in a system transaction. Nothing is stored of what no tenant trusts any more. */
export async function recordFindings(tx: Transaction, server: string, findings: readonly KeysFinding[]): Promise<void> {
  // Losing a finding in a crash costs nothing: servers look again.
  await tx.run(sql`set local synchronous_commit = off`);
  await tx.run(sql`
    insert into accord.issuer_keys as k (server, tenant, name, issuer, jwks_uri, error)
    select s.id, t.tenant, t.name, f.issuer, f.jwks_uri, f.error
    from unnest(${column.texts(findings, (one) => one.tenant)}, ${column.texts(findings, (one) => one.issuer)},
      ${column.texts(findings, (one) => one.jwksUri ?? '')}, ${column.texts(findings, (one) => one.error)})
      as f (tenant, issuer, jwks_uri, error)
    join accord.trusted_issuer t on t.tenant = f.tenant and t.spec ->> 'issuer' = f.issuer
      and coalesce(t.spec ->> 'jwksUri', '') = f.jwks_uri
    join accord.server s on s.id = ${server}
    on conflict (server, tenant, name) do update set issuer = excluded.issuer, jwks_uri = excluded.jwks_uri,
      error = excluded.error, checked_at = now(),
      changed_at = case when (k.issuer, k.jwks_uri, k.error) is distinct from
        (excluded.issuer, excluded.jwks_uri, excluded.error) then now() else k.changed_at end`);
}

const Unchecked = Type.Object({ tenant: Type.String(), issuer: Type.String(), jwks_uri: Nullable(Type.String()) });

/**
 * Issuers whose keys this server is to read though no token asks: no live server has read them, or this one could not a
 * while ago. In any order, so that servers begin at different ones.
 */
export function readUnchecked(
  tx: Transaction,
  server: string,
  { maxStalenessMs, retryMs, limit }: { maxStalenessMs: number; retryMs: number; limit: number },
): Promise<Static<typeof Unchecked>[]> {
  return tx.many(
    Unchecked,
    sql`select t.tenant, t.spec ->> 'issuer' as issuer, t.spec ->> 'jwksUri' as jwks_uri
      from accord.trusted_issuer t
      join accord.tenant n on n.tenant = t.tenant and n.state = 'active' and n.revision > 0
      where not exists (select from accord.issuer_keys k
          join accord.server s on s.id = k.server and s.seen_at > now() - make_interval(secs => ${maxStalenessMs / 1000})
          where k.tenant = t.tenant and k.name = t.name and ${sameUrls})
        or exists (select from accord.issuer_keys k where k.server = ${server} and k.tenant = t.tenant and k.name = t.name
          and ${sameUrls} and k.error is not null and k.checked_at < now() - make_interval(secs => ${retryMs / 1000}))
      order by random() limit ${limit}`,
  );
}

const Findings = Type.Object({ servers: Type.Integer(), failed: Type.Integer(), errors: Json<string[]>() });
export type Findings = Static<typeof Findings>;

/** What live servers found when they last read the keys of an issuer by the URLs that it has now; in a system transaction. */
export function readFindings(tx: Transaction, tenant: string, name: string, maxStalenessMs: number): Promise<Findings> {
  return tx.one(
    Findings,
    sql`select count(*)::int as servers, count(k.error)::int as failed,
        coalesce(jsonb_agg(distinct k.error) filter (where k.error is not null), '[]') as errors
      from accord.issuer_keys k
      join accord.trusted_issuer t on t.tenant = k.tenant and t.name = k.name and ${sameUrls}
      join accord.server s on s.id = k.server and s.seen_at > now() - make_interval(secs => ${maxStalenessMs / 1000})
      where k.tenant = ${tenant} and k.name = ${name}`,
  );
}

const FoundIssuer = Type.Object({ tenant: Type.String(), name: Type.String() });

/** Issuers of whose keys a server has found something else than before, within this time; in a system transaction. */
export function readChangedFindings(tx: Transaction, withinMs: number): Promise<Static<typeof FoundIssuer>[]> {
  return tx.many(
    FoundIssuer,
    sql`select distinct tenant, name from accord.issuer_keys
      where changed_at > now() - make_interval(secs => ${withinMs / 1000})`,
  );
}
