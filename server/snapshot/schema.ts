/** Owns the shape of what a server decides from: one frozen object a tenant, replaced by assignment, fetched once a request. */
import type { TenantAuth } from '../core/auth/schema.ts';
import type { Definitions } from '../definitions/index.ts';
import type { PolicyEntry } from '../policies/index.ts';
import type { TenantSpec } from '../tenants/index.ts';
import type { Types } from '../types/index.ts';

export type TenantSnapshot = {
  readonly tenant: string;
  readonly active: boolean;
  /** The tenant's configuration revision that this is. */
  readonly revision: number;
  /** created_at of the tenant's row: an erased tenant's successor is another one. */
  readonly tenantCreatedAt: string;
  readonly spec: TenantSpec;
  readonly auth: TenantAuth;
  readonly types: Types;
  /** Consent definitions that are not archived, by name. */
  readonly definitions: Definitions;
  readonly policies: ReadonlyMap<string, PolicyEntry>;
};
