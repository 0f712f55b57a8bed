import { limits } from '../core/limits.ts';
import { defineRoom } from '../room/room.ts';
import { Ledger } from './append.ts';
import { DeniedRequestRecorder } from './denied-request-recorder.ts';
import { erasingLedger } from './erasing.ts';
import { registerEvent } from './events.ts';
import { ledgerProblem } from './problems.ts';
import { registerLedgerRoutes } from './routes.ts';
import { sealing } from './seal.ts';
import { removeLedger } from './tenant-store.ts';

export const ledgerRoom = defineRoom({
  name: 'ledger',
  tables: ['ledger_inbox', 'ledger_entry', 'ledger_checkpoint'],
  create({ database, encrypter, clock, observe, eventHints }) {
    // An answer waits for its entry no longer than for what it reads, and not behind snapshots and sweeps.
    const own = database.separate('ledger', { poolMax: 1, systemStatementTimeoutMs: limits.statementTimeoutMs });
    const ledger = new Ledger(own, encrypter);
    return {
      database,
      encrypter,
      clock,
      observe,
      eventHints,
      ledger,
      ledgerDatabase: own,
      deniedRequests: new DeniedRequestRecorder({ ledger, clock }),
    };
  },
  routes: registerLedgerRoutes,
  openapiTag: 'Consents',
  // Without the tenant no entry is sealed.
  tenantRows: { removeAfter: removeLedger },
  erasing: () => erasingLedger,
  tasks: (services) => [sealing(services)],
  metrics(_services, meters) {
    const sealed = meters.counter('ledger_entries_sealed_total', 'Ledger entries that were put into a chain.');
    return { ledger_sealed: ({ entries }) => sealed.inc(entries) };
  },
  events: [registerEvent],
  problems: ledgerProblem,
  async close({ ledger, ledgerDatabase }) {
    await ledger.close();
    await ledgerDatabase.close();
  },
});
