import { defineRoom } from '../room/room.ts';
import { tenantsRoom } from '../tenants/index.ts';
import { tenantWriter } from './tenant-writer.ts';
import type { WriteServices } from './unit.ts';

export const writesRoom = defineRoom({
  name: 'writes',
  tables: [],
  create({ database, clock, encrypter, events }, use): WriteServices {
    const services = { database, clock, tagger: encrypter, events };
    use(tenantsRoom).provideWrite(tenantWriter(services));
    return services;
  },
  writtenByOperator: true,
});
