import { defineRoom, lateBound, tenantRowsOf } from '../room/room.ts';
import { erasingChanges } from './erasing.ts';
import { tenantProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import type { WriteTenant } from './unit.ts';

export const tenantsRoom = defineRoom({
  name: 'tenants',
  tables: ['tenant_secret', 'config_change', 'tenant'],
  create({ database, clock, encrypter, rooms }) {
    const write = lateBound<WriteTenant>('write');
    return { database, clock, encrypter, rows: tenantRowsOf(rooms), write: write.call, provideWrite: write.provide };
  },
  resourceKinds,
  erasing: () => erasingChanges,
  problems: tenantProblem,
});
