/** What an erasure keeps that no room of its own can say. */
import type { Kept } from '../room/erasing.ts';

/** @param replacement what replaces the id from now on */
export function keptBeside(replacement: string): Kept[] {
  return [
    {
      what: `keyed digests of the id (${replacement}) and of the addresses that the erasure named`,
      why: 'What is recorded later is compared with them, so that asking about the id or an address does not write it back.',
      until: 'records about the actor are written again, or the tenant is erased',
    },
    {
      what: 'policies with their history and tests, and manifests, that name the person',
      why: 'They are configuration, which its owners change.',
      until: 'their owners change them; the history of a policy keeps its newest 100 revisions',
    },
    {
      what: 'members of the tenant and their invitations',
      why: 'They run the tenant and are no actors of it; a person may be both.',
      until: 'a security-admin removes them',
    },
    {
      what: 'log lines of the servers, and metrics',
      why: 'They are outside of the database. Lines name tenants, requests and policies, and no actors unless an error quotes one.',
      until: 'whoever keeps them deletes them',
    },
    {
      what: 'dead rows, write-ahead log and backups of Postgres',
      why: 'Postgres gives the space of deleted rows back with a vacuum. A backup is restored as it was made.',
      until: 'vacuum, and the end of their retention; after a restore, repeat the erasures since the backup',
    },
  ];
}
