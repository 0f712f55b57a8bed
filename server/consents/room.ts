import { ledgerRoom } from '../ledger/index.ts';
import { defineRoom } from '../room/room.ts';
import { timedTask } from '../room/timed.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { AdoptionCounts } from './adoption-counts.ts';
import { countConsents, countInvited } from './adoption-store.ts';
import { ConsentBatchWriter } from './batch-writer.ts';
import { ConsentHistory } from './consent-history.ts';
import { erasingConsents } from './erasing.ts';
import { consentEvents } from './events.ts';
import { readConsentFacts } from './facts.ts';
import { HolderReader } from './holders.ts';
import { consentProblem } from './problems.ts';
import { registerConsentRoutes } from './routes.ts';
import { removeRestOfTenant, removeSomeOfTenant } from './tenant-store.ts';
import { endingConsents } from './timed.ts';

type ReadFacts = [about: Parameters<typeof readConsentFacts>[1], now: number];

export const consentsRoom = defineRoom({
  name: 'consents',
  tables: ['user_consent', 'consent_invitation'],
  create({ database, encrypter, baseUrl, scheduler, observe, clock }, use) {
    const writing = use(writesRoom);
    const { snapshotOf } = use(snapshotRoom);
    const { ledger, deniedRequests } = use(ledgerRoom);
    const history = new ConsentHistory(database);
    const holders = new HolderReader(database, scheduler);
    const adoptions = new AdoptionCounts(clock, (tenant, name) =>
      database.tenantSnapshot(tenant, async (tx) => {
        const [consents, invited] = await Promise.all([
          countConsents(tx, tenant, name),
          countInvited(tx, tenant, name),
        ]);
        return { consents, invited };
      }),
    );
    return {
      ...{ ...writing, encrypter, observe, baseUrl, snapshotOf, ledger, history, deniedRequests, adoptions },
      batchWriter: new ConsentBatchWriter({ ...writing, encrypter, observe, snapshotOf }),
      readHolders: (...asked: Parameters<HolderReader['read']>) => holders.read(...asked),
      readFacts: (...[about, now]: ReadFacts) => readConsentFacts(history, about, now),
    };
  },
  routes: (app, services, { countMore }) => registerConsentRoutes(app, services, countMore),
  openapiTag: 'Consents',
  tenantRows: { removeSome: removeSomeOfTenant, removeRest: removeRestOfTenant },
  erasing: () => erasingConsents,
  tasks: (services) => endingConsents(services).map((one) => timedTask(services, one)),
  metrics(_services, meters) {
    const unaddressed = meters.counter(
      'consent_mails_unaddressed_total',
      'Users that got no mail about a consent, because they have no verified address.',
      ['template'],
    );
    return { consent_mail_unaddressed: ({ template, count }) => unaddressed.inc({ template }, count) };
  },
  events: consentEvents,
  problems: consentProblem,
});
