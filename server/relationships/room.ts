import { defineRoom, lateBound } from '../room/room.ts';
import { timedTask } from '../room/timed.ts';
import { writesRoom } from '../writes/index.ts';
import type { RelationshipRouteServices } from './authorization.ts';
import { erasingRelationships } from './erasing.ts';
import { relationshipEvents } from './events.ts';
import { expiringRelationships } from './expiring.ts';
import { GraphReader } from './graph/graph-reader.ts';
import { relationshipProblem } from './problems.ts';
import { registerRelationshipRoutes } from './routes.ts';
import { removeRestOfTenant, removeSomeOfTenant } from './tenant-store.ts';

export const relationshipsRoom = defineRoom({
  name: 'relationships',
  tables: ['relationship', 'relationship_change', 'relationship_import', 'entity'],
  create({ database, scheduler, observe, encrypter }, use) {
    const requireAccess = lateBound<RelationshipRouteServices['requireAccess']>('requireAccess');
    const endInvitations = lateBound<RelationshipRouteServices['endInvitations']>('endInvitations');
    const called = { requireAccess: requireAccess.call, endInvitations: endInvitations.call };
    return {
      ...use(writesRoom),
      ...called,
      observe,
      encrypter,
      graph: new GraphReader(database, scheduler),
      provideRequireAccess: requireAccess.provide,
      provideEndInvitations: endInvitations.provide,
    };
  },
  routes: registerRelationshipRoutes,
  openapiTag: 'Relationships',
  tenantRows: { removeSome: removeSomeOfTenant, removeRest: removeRestOfTenant },
  erasing: () => erasingRelationships,
  tasks: (services) => [timedTask(services, expiringRelationships(services))],
  events: relationshipEvents,
  problems: relationshipProblem,
});
