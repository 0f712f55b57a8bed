import type { MemberInvitationServices } from '../server/members/index.ts';
import type { Room, Use } from '../server/room/room.ts';
import type { TenantRow, TenantServices } from '../server/tenants/index.ts';

/** What a process gives to its operator. The kinds of all rooms are reconciled. */
export type OperatorServices = { readonly rooms: readonly Room[]; readonly use: Use };

/** Of the rooms with which the operator does more than reconcile their kinds. */
export type StepServices = { readonly tenants: TenantServices; readonly members: MemberInvitationServices };

export type FoundTenant = Pick<TenantRow, 'owner' | 'revision' | 'state' | 'spec'>;
