import { consentsRoom } from '../consents/index.ts';
import { FactGatherer, type FactReaders, type FactsSource } from '../facts/index.ts';
import { policiesRoom } from '../policies/index.ts';
import { relationshipsRoom } from '../relationships/index.ts';
import { defineRoom, lateBound } from '../room/room.ts';
import { accessGuard } from './access-check.ts';
import { BatchLimiter } from './batch-limiter.ts';
import { erasingDecisions } from './erasing.ts';
import { decisionMade } from './events.ts';
import { Explainer } from './explain.ts';
import { DecisionLog } from './log.ts';
import { meterDecisions } from './meters.ts';
import { authzProblem } from './problems.ts';
import { registerAuthzRoutes } from './routes.ts';
import { removeOfTenant } from './tenant-store.ts';

export const authzRoom = defineRoom({
  name: 'authz',
  tables: ['decision'],
  create({ config, database, clock, observe, encrypter, scheduler, eventHints }, use) {
    const { artifacts, engine } = use(policiesRoom);
    const invitation = lateBound<FactReaders['invitation']>('invitation');
    const { graph } = use(relationshipsRoom);
    const facts: FactsSource = new FactGatherer({
      records: (query) => graph.read(query),
      consents: use(consentsRoom).readFacts,
      dataSubjects: use(consentsRoom).readHolders,
      invitation: invitation.call,
    });
    const authz = {
      ...{ engine, scheduler, clock, observe, database, artifacts, facts },
      log: new DecisionLog(database, observe, encrypter, eventHints),
      explainer: new Explainer({ artifacts, engine, database }),
      batches: new BatchLimiter(),
      pseudonymizer: encrypter,
      policySeriesMax: config.ACCORD_METRICS_POLICIES,
      provideInvitation: invitation.provide,
    };
    use(relationshipsRoom).provideRequireAccess(accessGuard(authz));
    return authz;
  },
  routes: (app, services, { countMore }) => registerAuthzRoutes(app, services, countMore),
  openapiTag: 'Authorization',
  tenantRows: { removeRest: removeOfTenant },
  erasing: ({ scheduler }) => erasingDecisions(scheduler),
  metrics: meterDecisions,
  events: [decisionMade],
  problems: authzProblem,
  close: ({ log }) => log.close(),
});
