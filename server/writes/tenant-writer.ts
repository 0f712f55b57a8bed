/** How the tenants room, which comes before this one, writes its own rows. */
import { authorOf } from '../core/author.ts';
import type { WriteTenant } from '../tenants/index.ts';
import type { ConfigWriteServices } from './unit.ts';
import { write } from './write.ts';

export function tenantWriter(services: ConfigWriteServices): WriteTenant {
  return (tenant, writer, work, create) =>
    write(services, authorOf(tenant, writer), { locks: 'configuration', create }, work);
}
