import { countOfManifests } from '../core/db/owned.ts';
import { defineRoom } from '../room/room.ts';
import { byTenant, snapshotPart } from '../room/tenant-snapshot.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { subscriptionsRoom } from '../subscriptions/index.ts';
import { writesRoom } from '../writes/index.ts';
import { typeProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import { registerTypeRoutes, type TypeRouteServices } from './routes.ts';
import { typesOf } from './rules.ts';
import type { Types } from './schema.ts';
import { loadEntityTypes, loadRelationshipTypes } from './store.ts';

declare module '../room/tenant-snapshot.ts' {
  interface SnapshotFields {
    types: Types;
  }
}

export const typesRoom = defineRoom({
  name: 'types',
  tables: ['relationship_type', 'entity_type'],
  create(_ground, use): TypeRouteServices {
    use(subscriptionsRoom).provideEntityTypes(() => ({
      names: async (tx, tenant) => (await loadEntityTypes(tx, tenant)).map(({ name }) => name),
    }));
    return { ...use(writesRoom), waitForRevision: use(snapshotRoom).waitForRevision };
  },
  resourceKinds,
  routes: registerTypeRoutes,
  openapiTag: 'Types',
  snapshot: snapshotPart({
    key: 'types',
    kinds: ['actor_type', 'resource_type', 'relationship_type'],
    async loadAll(tx) {
      const entities = byTenant(await loadEntityTypes(tx));
      const relationships = byTenant(await loadRelationshipTypes(tx));
      return ({ tenant }) => typesOf(entities(tenant), relationships(tenant));
    },
    async load(tx, { tenant }) {
      return typesOf(...(await Promise.all([loadEntityTypes(tx, tenant), loadRelationshipTypes(tx, tenant)])));
    },
  }),
  tenantRows: {
    async countOfManifests(tx, tenant) {
      const tables = ['entity_type', 'relationship_type'].map((table) => countOfManifests(tx, tenant, table));
      return (await Promise.all(tables)).reduce((sum, count) => sum + count, 0);
    },
  },
  problems: typeProblem,
});
