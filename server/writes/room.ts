import { defineRoom } from '../room/room.ts';
import { tenantsRoom } from '../tenants/index.ts';
import { configurationChanged } from './events.ts';
import { tenantWriter } from './tenant-writer.ts';
import type { WriteServices } from './unit.ts';

export const writesRoom = defineRoom({
  name: 'writes',
  tables: [],
  create({ database, clock, encrypter, eventHints }, use): WriteServices {
    const services = { database, clock, pseudonymizer: encrypter, eventHints };
    use(tenantsRoom).provideWrite(tenantWriter(services));
    return services;
  },
  events: [configurationChanged],
  writtenByOperator: true,
});
