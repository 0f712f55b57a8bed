import { defineRoom } from '../room/room.ts';
import { erasingAudit } from './erasing.ts';
import { registerAuditRoutes } from './routes.ts';
import { removeEntries } from './store.ts';

export const auditRoom = defineRoom({
  name: 'audit',
  tables: ['audit_entry'],
  create: ({ database, clock }) => ({ database, clock }),
  routes: registerAuditRoutes,
  openapiTag: 'Audit',
  tenantRows: { removeRest: removeEntries },
  erasing: () => erasingAudit,
});
