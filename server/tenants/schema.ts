/** Shapes of the tenants room. The spec is the custom resource's: whoever passes it here has validated it. */
import { type Static, Type } from 'typebox';
import type { TenantSpec } from '../../crds/index.ts';
import { Instant, Json } from '../core/db/rows.ts';
import type { Owner } from '../core/ownership.ts';

export type { TenantSpec };

export const TenantRow = Type.Object({
  tenant: Type.String(),
  state: Type.Union([Type.Literal('active'), Type.Literal('disabled')]),
  spec: Json<TenantSpec>(),
  revision: Type.Integer(),
  owner: Json<Owner>(),
  /** Tells a tenant from an erased one of the same code. */
  created_at: Instant,
});
export type TenantRow = Static<typeof TenantRow>;
