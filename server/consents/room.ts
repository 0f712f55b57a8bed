/** Registers the consents room. */
import { defineRoom } from '../core/room.ts';
import { factsRoom } from '../facts/index.ts';
import { ledgerRoom } from '../ledger/index.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { erasingConsents } from './erasing.ts';
import { FactsWithConsents } from './facts.ts';
import { PastConsents } from './past.ts';
import { consentProblem } from './problems.ts';
import { Registrar } from './registrar.ts';
import { registerConsentRoutes } from './routes.ts';
import { removeRestOfTenant, removeSomeOfTenant } from './tenant-store.ts';

export const consentsRoom = defineRoom({
  name: 'consents',
  tables: ['user_consent', 'consent_invitation'],
  create({ database, clock, sealer, baseUrl }, use) {
    const { snapshotOf } = use(snapshotRoom);
    const { ledger, throttled } = use(ledgerRoom);
    const past = new PastConsents(database);
    return {
      ...{ database, clock, sealer, tagger: sealer, baseUrl, snapshotOf, ledger, past, throttled },
      registrar: new Registrar({ database, clock, ledger, tagger: sealer, snapshotOf }),
      facts: new FactsWithConsents(use(factsRoom).records, past),
    };
  },
  routes: (app, services, { countMore }) => registerConsentRoutes(app, services, countMore),
  openapiTag: 'Consents',
  tenantRows: { removeSome: removeSomeOfTenant, removeRest: removeRestOfTenant },
  erasing: () => erasingConsents,
  problems: consentProblem,
});
