/** Registers the tenants room. */
import { defineRoom, tenantRowsOf } from '../core/room.ts';
import type { TenantServices } from './actions.ts';
import { tenantProblem } from './problems.ts';

export const tenantsRoom = defineRoom({
  name: 'tenants',
  tables: ['tenant_secret', 'config_change', 'tenant'],
  create({ database, clock, sealer, rooms }): TenantServices {
    return { database, clock, sealer, rows: tenantRowsOf(rooms) };
  },
  writtenByOperator: true,
  problems: tenantProblem,
});
