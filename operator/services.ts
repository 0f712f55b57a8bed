/** What the operator needs of the rooms. Its kinds and its steps call the same actions as the Config API. */
import type { DefinitionServices } from '../server/definitions/index.ts';
import type { IssuerServices } from '../server/issuers/index.ts';
import type { InvitationServices } from '../server/members/index.ts';
import type { PolicyServices } from '../server/policies/index.ts';
import type { TenantRow, TenantServices } from '../server/tenants/index.ts';
import type { TypeServices } from '../server/types/index.ts';

/** By the names of their rooms. A kind of another room adds that room here. */
export type OperatorServices = {
  tenants: TenantServices;
  policies: PolicyServices;
  issuers: IssuerServices;
  members: InvitationServices;
  types: TypeServices;
  definitions: DefinitionServices;
};

export type FoundTenant = Pick<TenantRow, 'owner' | 'revision' | 'state' | 'spec'>;
