/** Owns reading a tenant's configuration into a snapshot: whole the first time, afterwards only what a revision changed. */
import type { Database, Transaction } from '../core/db/database.ts';
import { type Definition, definitionsOf, loadDefinitions } from '../definitions/index.ts';
import { authOf, loadIssuers } from '../issuers/index.ts';
import { loadPublicKeys } from '../keys/index.ts';
import { loadPolicies, type PolicyEntry } from '../policies/index.ts';
import { configChangesSince, readTenant, readTenants, type TenantRow } from '../tenants/index.ts';
import { loadRelationshipTypes, loadThingTypes, typesOf } from '../types/index.ts';
import type { TenantSnapshot } from './schema.ts';

type Loaded = { snapshot: TenantSnapshot | undefined; full: boolean };

/** Past this many changed objects, reading everything is cheaper than picking. */
const CHANGES_MAX = 2000;

/** Every tenant, in one consistent read. */
export async function loadAll(database: Database, baseUrl: string): Promise<TenantSnapshot[]> {
  return database.systemSnapshot(async (tx) => {
    const rows = await readTenants(tx);
    const policies = Map.groupBy(await loadPolicies(tx), (entry) => entry.tenant);
    const issuers = Map.groupBy(await loadIssuers(tx), (issuer) => issuer.tenant);
    const keys = Map.groupBy(await loadPublicKeys(tx), (key) => key.tenant);
    const things = Map.groupBy(await loadThingTypes(tx), (type) => type.tenant);
    const relationships = Map.groupBy(await loadRelationshipTypes(tx), (type) => type.tenant);
    const definitions = Map.groupBy(await loadDefinitions(tx), (definition) => definition.tenant);
    return rows
      .filter((row) => row.revision > 0)
      .map((row) =>
        freeze(row, {
          auth: authOf(row, issuers.get(row.tenant) ?? [], keys.get(row.tenant) ?? [], baseUrl),
          policies: new Map((policies.get(row.tenant) ?? []).map(({ tenant: _, ...entry }) => [entry.name, entry])),
          types: typesOf(things.get(row.tenant) ?? [], relationships.get(row.tenant) ?? []),
          definitions: definitionsOf(definitions.get(row.tenant) ?? []),
        }),
      );
  });
}

/** One tenant as it is now, starting from what was served before; undefined when it is gone. */
export async function loadTenant(
  database: Database,
  baseUrl: string,
  tenant: string,
  previous: TenantSnapshot | undefined,
): Promise<Loaded> {
  return database.systemSnapshot(async (tx) => {
    const row = await readTenant(tx, tenant);
    if (row === undefined || row.revision === 0) return { snapshot: undefined, full: true };
    const known =
      previous?.tenantCreatedAt === row.created_at && previous.revision <= row.revision ? previous : undefined;
    const changes = known && (await configChangesSince(tx, tenant, known.revision));
    if (!known || !changes || changes.length > CHANGES_MAX) {
      const policies = new Map((await loadPolicies(tx, tenant)).map(({ tenant: _, ...entry }) => [entry.name, entry]));
      const types = await loadTypes(tx, tenant);
      const definitions = definitionsOf(await loadDefinitions(tx, tenant));
      const auth = await loadAuth(tx, row, baseUrl);
      return { snapshot: freeze(row, { auth, policies, types, definitions }), full: true };
    }
    const namesOf = (kind: string) => changes.filter((change) => change.kind === kind).map((change) => change.name);
    const names = namesOf('policy');
    const policies = names.length > 0 ? await replacePolicies(tx, known, names) : known.policies;
    // Tokens verified under an `auth` object are worth nothing under another: it is made anew only when it changed.
    const sameAuth = changes.every(
      (change) => change.kind === 'policy' || change.kind === 'consent_definition' || isType(change),
    );
    const auth = sameAuth ? known.auth : await loadAuth(tx, row, baseUrl);
    const types = changes.some(isType) ? await loadTypes(tx, tenant) : known.types;
    const definitions = await replaceDefinitions(tx, known, namesOf('consent_definition'));
    return { snapshot: freeze(row, { auth, policies, types, definitions }), full: false };
  });
}

async function loadAuth(tx: Transaction, row: TenantRow, baseUrl: string) {
  return authOf(row, await loadIssuers(tx, row.tenant), await loadPublicKeys(tx, row.tenant), baseUrl);
}

async function loadTypes(tx: Transaction, tenant: string) {
  return typesOf(await loadThingTypes(tx, tenant), await loadRelationshipTypes(tx, tenant));
}

function isType({ kind }: { kind: string }): boolean {
  return kind === 'actor_type' || kind === 'resource_type' || kind === 'relationship_type';
}

async function replacePolicies(tx: Transaction, known: TenantSnapshot, names: string[]) {
  const policies = new Map<string, PolicyEntry>(known.policies);
  for (const name of names) policies.delete(name);
  for (const { tenant: _, ...entry } of await loadPolicies(tx, known.tenant, names)) policies.set(entry.name, entry);
  return policies;
}

async function replaceDefinitions(tx: Transaction, known: TenantSnapshot, names: string[]) {
  if (names.length === 0) return known.definitions;
  const definitions = new Map<string, Definition>(known.definitions);
  for (const name of names) definitions.delete(name);
  for (const [name, one] of definitionsOf(await loadDefinitions(tx, known.tenant, names))) definitions.set(name, one);
  return definitions;
}

function freeze(
  row: TenantRow,
  rest: Pick<TenantSnapshot, 'auth' | 'policies' | 'types' | 'definitions'>,
): TenantSnapshot {
  return Object.freeze({
    tenant: row.tenant,
    active: row.state === 'active',
    revision: row.revision,
    tenantCreatedAt: row.created_at,
    spec: row.spec,
    ...rest,
  });
}
