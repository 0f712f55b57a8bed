/** What a server decides from: the shape stands in core, because every room adds to it. */
export type { TenantHead, TenantSnapshot } from '../room/tenant-snapshot.ts';
