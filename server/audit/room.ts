import { defineRoom } from '../room/room.ts';
import { erasingAudit } from './erasing.ts';
import { removeEntries } from './store.ts';

export const auditRoom = defineRoom({
  name: 'audit',
  tables: ['audit_entry'],
  create: () => ({}),
  tenantRows: { removeRest: removeEntries },
  erasing: () => erasingAudit,
});
