import { countOfManifests } from '../core/db/owned.ts';
import type { Observe } from '../core/observe.ts';
import { defineRoom } from '../room/room.ts';
import { loadedByName, snapshotPart } from '../room/tenant-snapshot.ts';
import { timedTask } from '../room/timed.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { type WriteServices, writesRoom } from '../writes/index.ts';
import { documentEffective } from './events.ts';
import { definitionProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import { type DefinitionRouteServices, registerDefinitionRoutes } from './routes.ts';
import { definitionsOf } from './rules.ts';
import type { Definitions } from './schema.ts';
import { loadDefinitions } from './store.ts';
import { effectiveDocuments } from './timed.ts';

declare module '../room/tenant-snapshot.ts' {
  interface SnapshotFields {
    /** Consent definitions that are not archived, by name. */
    definitions: Definitions;
  }
}

export const definitionsRoom = defineRoom({
  name: 'definitions',
  tables: ['consent_document', 'consent_version', 'consent_definition'],
  create({ observe }, use): DefinitionRouteServices & WriteServices & { observe: Observe } {
    return { ...use(writesRoom), observe, waitForRevision: use(snapshotRoom).waitForRevision };
  },
  resourceKinds,
  routes: registerDefinitionRoutes,
  openapiTag: 'Consent definitions',
  snapshot: snapshotPart({
    key: 'definitions',
    ...loadedByName({ kinds: ['consent_definition'], rows: loadDefinitions, entries: definitionsOf }),
  }),
  tenantRows: { countOfManifests: (tx, tenant) => countOfManifests(tx, tenant, 'consent_definition') },
  tasks: (services) => [timedTask(services, effectiveDocuments(services))],
  events: [documentEffective],
  problems: definitionProblem,
});
