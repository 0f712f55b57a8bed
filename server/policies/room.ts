import type { Static } from 'typebox';
import { countOfManifests } from '../core/db/owned.ts';
import { regoRoom } from '../rego/index.ts';
import { defineRoom } from '../room/room.ts';
import { loadedByName, snapshotPart } from '../room/tenant-snapshot.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { Artifacts } from './artifacts.ts';
import { documentsOf } from './documents.ts';
import { Engine } from './engine.ts';
import { policyEvents } from './events.ts';
import { registerFormatting } from './format-routes.ts';
import { registerPartRoutes } from './part-routes.ts';
import { policyProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import { type PolicyRouteServices, registerPolicyRoutes } from './routes.ts';
import type { EntryRow, PolicyEntry } from './schema.ts';
import { loadPolicies, sweepArtifacts } from './store.ts';

declare module '../room/tenant-snapshot.ts' {
  interface SnapshotFields {
    policies: ReadonlyMap<string, PolicyEntry>;
  }
}

const SWEEP_MS = 24 * 60 * 60 * 1000;
const ARTIFACTS_KEPT_DAYS = 30;

function entryOf(row: Static<typeof EntryRow>): [string, PolicyEntry] {
  const { tenant: _, data_subjects: dataSubjects, documents: list, libraries, ...entry } = row;
  const documents = documentsOf(list);
  const more = {
    ...(dataSubjects === null ? {} : { dataSubjects }),
    ...(documents && { documents }),
    ...(libraries === null ? {} : { libraries }),
  };
  return [entry.name, { ...entry, ...more }];
}

export const policiesRoom = defineRoom({
  name: 'policies',
  tables: ['policy_artifact', 'policy_revision', 'policy', 'policy_part', 'policy_part_revision', 'policy_use'],
  create({ database, clock, observe, scheduler, writesOnly }, use): PolicyRouteServices {
    const artifacts = new Artifacts({ database, compiler: use(regoRoom).compiler, observe });
    const engine = new Engine({
      ...{ clock, observe, scheduler },
      fetch: (tenant, digest) => artifacts.fetch(tenant, digest),
      fetchPacked: (tenant, digest) => artifacts.fetchPacked(tenant, digest),
      fetchDocument: (tenant, document) => artifacts.fetchDocument(tenant, document),
    });
    const preload: Engine['preload'] = (...program) => engine.preload(...program);
    const services = { ...use(writesRoom), artifacts, engine, waitForRevision: use(snapshotRoom).waitForRevision };
    return writesOnly ? services : { ...services, preload };
  },
  resourceKinds,
  routes(app, services) {
    registerPolicyRoutes(app, services);
    registerPartRoutes(app, services);
    registerFormatting(app, services);
  },
  openapiTag: 'Policies',
  snapshot: snapshotPart({
    key: 'policies',
    ...loadedByName({
      kinds: ['policy', 'policy_data'],
      rows: loadPolicies,
      entries: (rows) => rows.map(entryOf),
    }),
    view: (policies) => ({
      policies: [...policies.values()],
    }),
  }),
  tenantRows: {
    countOfManifests: async (tx, tenant) =>
      (await countOfManifests(tx, tenant, 'policy')) + (await countOfManifests(tx, tenant, 'policy_part')),
  },
  tasks: ({ database }) => [
    {
      name: 'sweeping compiled policies',
      everyMs: SWEEP_MS,
      async run() {
        await database.system((tx) => sweepArtifacts(tx, ARTIFACTS_KEPT_DAYS));
        return undefined;
      },
    },
  ],
  metrics({ engine }, meters) {
    meters.gauge('programs', 'Compiled policies in memory.', () => engine.size);
    const suspended = meters.counter('policy_suspensions_total', 'Policies moved off the main thread.');
    const compiles = meters.counter('compiles_total', 'Policies compiled.', ['result']);
    const seconds = meters.histogram('compile_seconds', 'Time to compile a policy, waiting included.');
    return {
      policy_suspended: () => suspended.inc(),
      policy_compiled({ cached, ok, ms }) {
        compiles.inc({ result: cached ? 'cached' : ok ? 'ok' : 'refused' });
        seconds.add(ms / 1000);
      },
    };
  },
  events: policyEvents,
  problems: policyProblem,
  close: ({ engine }) => engine.close(),
});
