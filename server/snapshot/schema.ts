/** What a server decides from. The type is in server/room, because every room adds to it. */
export type { TenantHead, TenantSnapshot } from '../room/tenant-snapshot.ts';
