/** Registers the authorization room. */
import { consentsRoom } from '../consents/index.ts';
import { defineRoom, fromAbove } from '../core/room.ts';
import type { FactsSource } from '../facts/index.ts';
import { policiesRoom } from '../policies/index.ts';
import { relationshipsRoom } from '../relationships/index.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import type { AuthzServices } from './actions.ts';
import { governedByPolicies } from './asking.ts';
import { Batches } from './batches.ts';
import { erasingDecisions } from './erasing.ts';
import { Explainer } from './explain.ts';
import { DecisionLog } from './log.ts';
import { meterDecisions } from './meters.ts';
import { authzProblem } from './problems.ts';
import { registerAuthzRoutes } from './routes.ts';
import { removeOfTenant } from './tenant-store.ts';

export const authzRoom = defineRoom({
  name: 'authz',
  tables: ['decision'],
  create({ database, clock, observe, sealer, turns }, use) {
    const { artifacts, engine } = use(policiesRoom);
    const invitationOf = fromAbove<AuthzServices['invitationOf']>('invitationOf');
    const facts: FactsSource = use(consentsRoom).facts;
    const authz = {
      ...{ engine, turns, clock, observe, database, artifacts, facts },
      log: new DecisionLog(database, observe, sealer),
      explainer: new Explainer({ artifacts, engine, database }),
      batches: new Batches(),
      snapshotOf: use(snapshotRoom).snapshotOf,
      invitationOf: invitationOf.call,
      provideInvitationOf: invitationOf.provide,
    };
    use(relationshipsRoom).provideGovern(governedByPolicies(authz));
    return authz;
  },
  routes: (app, services, { countMore }) => registerAuthzRoutes(app, services, countMore),
  openapiTag: 'Authorization',
  tenantRows: { removeRest: removeOfTenant },
  erasing: ({ turns }) => erasingDecisions(turns),
  metrics: (_services, meters) => meterDecisions(meters),
  problems: authzProblem,
  close: ({ log }) => log.close(),
});
