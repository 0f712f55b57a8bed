/** Owns what the operator writes with: the rooms on a database whose transactions are bound to a term. */
import type { Database } from './core/db/database.ts';
import type { Observe } from './core/observe.ts';
import type { DefinitionServices } from './definitions/index.ts';
import type { IssuerServices } from './issuers/index.ts';
import { ensureKeys, type Sealer } from './keys/index.ts';
import type { InvitationServices } from './members/index.ts';
import { Artifacts, type Engine, type PolicyServices } from './policies/index.ts';
import type { createCompiler } from './rego/index.ts';
import type { TenantServices } from './tenants/index.ts';
import type { TypeServices } from './types/index.ts';
import { tenantWriter, type WriteServices } from './writes/index.ts';

export type FencedServices = {
  database: Database;
  tenants: TenantServices;
  policies: PolicyServices;
  issuers: IssuerServices;
  invitations: InvitationServices;
  types: TypeServices;
  definitions: DefinitionServices;
};

type Shared = {
  compiler: ReturnType<typeof createCompiler>;
  engine: Engine;
  observe: Observe;
  baseUrl: string;
  sealer: Sealer;
};

export function fencedServices(
  on: WriteServices,
  { compiler, engine, observe, baseUrl, sealer }: Shared,
): FencedServices {
  return {
    database: on.database,
    tenants: tenantsOf(on, sealer),
    policies: { ...on, artifacts: new Artifacts({ database: on.database, compiler, observe }), engine },
    issuers: { ...on, baseUrl },
    invitations: { ...on, baseUrl },
    types: on,
    definitions: on,
  };
}

export function tenantsOf(writing: WriteServices, sealer: Sealer): TenantServices {
  return {
    database: writing.database,
    write: tenantWriter(writing),
    ensureKeys: (write) => ensureKeys({ sealer, clock: writing.clock }, write),
    sealer,
  };
}
