/** What the operator needs of the rooms. Its kinds and its steps call the same actions as the Config API. */
import type { InvitationServices } from '../server/members/index.ts';
import type { TenantRow } from '../server/tenants/index.ts';
import type { KindServices } from './kinds/index.ts';

export type OperatorServices = KindServices & { members: InvitationServices };

export type FoundTenant = Pick<TenantRow, 'owner' | 'revision' | 'state' | 'spec'>;
