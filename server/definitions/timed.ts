/** Tells of documents that took effect. Of the end of life of versions the consents room tells, because users' consents end with it. */
import { takeTurn } from '../core/db/due.ts';
import { limits } from '../core/limits.ts';
import { byTime, type Timed } from '../room/timed.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { documentEffective } from './events.ts';
import { takeEffective, tenantsWithEffective } from './timed-store.ts';

export function effectiveDocuments(services: WriteServices): Timed {
  return {
    name: 'consent documents that took effect',
    tenantsDue: tenantsWithEffective,
    async tellSome(tenant) {
      const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
        if (!(await takeTurn(unit.tx, tenant, 'definitions.effective'))) return 0;
        const rows = await takeEffective(unit.tx, tenant, unit.nowText);
        for (const { definition: name, version, document, language, effective_date: effectiveDate } of rows) {
          const about = { name, version, document: { version: document, language }, effectiveDate };
          unit.emit(documentEffective, { requestor: byTime, ...about });
        }
        return rows.length;
      });
      return result === limits.timedEventsMax;
    },
  };
}
