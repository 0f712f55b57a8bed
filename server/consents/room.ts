/** Registers the consents room. */

import { ledgerRoom } from '../ledger/index.ts';
import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { ConsentBatchWriter } from './batch-writer.ts';
import { ConsentHistory } from './consent-history.ts';
import { erasingConsents } from './erasing.ts';
import { readConsentFacts } from './facts.ts';
import { consentProblem } from './problems.ts';
import { registerConsentRoutes } from './routes.ts';
import { removeRestOfTenant, removeSomeOfTenant } from './tenant-store.ts';

type ReadFacts = [about: Parameters<typeof readConsentFacts>[1], now: number];

export const consentsRoom = defineRoom({
  name: 'consents',
  tables: ['user_consent', 'consent_invitation'],
  create({ database, encrypter, baseUrl }, use) {
    const writing = use(writesRoom);
    const { snapshotOf } = use(snapshotRoom);
    const { ledger, refusals } = use(ledgerRoom);
    const history = new ConsentHistory(database);
    return {
      ...{ ...writing, encrypter, baseUrl, snapshotOf, ledger, history, refusals },
      batchWriter: new ConsentBatchWriter({ ...writing, snapshotOf }),
      readFacts: (...[about, now]: ReadFacts) => readConsentFacts(history, about, now),
    };
  },
  routes: (app, services, { countMore }) => registerConsentRoutes(app, services, countMore),
  openapiTag: 'Consents',
  tenantRows: { removeSome: removeSomeOfTenant, removeRest: removeRestOfTenant },
  erasing: () => erasingConsents,
  problems: consentProblem,
});
