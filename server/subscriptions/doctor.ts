/** Subscriptions that get no events: disabled ones, and those whose endpoint fails. From the database: no endpoint is called. */
import type { Database } from '../core/db/database.ts';
import { type DoctorCheck, type DoctorFinding, unlessFound } from '../room/doctor.ts';
import { countSubscriptions, readTroubled, type TroubledRow } from './doctor-store.ts';

const SHOWN_MAX = 50;

export function subscriptionsCheck({ database }: { database: Database }): DoctorCheck {
  return {
    name: 'event subscriptions',
    async run() {
      const { rows, count } = await database.system(async (tx) => ({
        rows: await readTroubled(tx, SHOWN_MAX),
        count: await countSubscriptions(tx),
      }));
      return unlessFound(rows.map(findingOf), `no endpoint of the subscriptions (${count}) fails`);
    },
  };
}

function findingOf(row: TroubledRow): DoctorFinding {
  const { tenant, id, endpoint, disabled_at, disabled_reason, failing_since, blocked_until } = row;
  const waiting = row.waiting > 0 ? `; up to ${row.waiting} events wait` : '';
  if (disabled_at !== null) {
    const why = disabled_reason === 'gone' ? 'its endpoint answered 410' : 'its endpoint failed for five days';
    return {
      ...{ status: 'error', tenant },
      found: `the subscription ${id} to ${endpoint} is disabled since ${disabled_at}: ${why}${waiting}`,
      remedy:
        'Nothing is sent to it. Mend the endpoint, then change the subscription (a PUT of the same does): it goes on where it ended, and a replay sends what retention has kept.',
    };
  }
  const next = blocked_until === null ? '' : `; the next attempt is after ${blocked_until}`;
  return {
    ...{ status: 'warning', tenant },
    found: `the endpoint ${endpoint} of the subscription ${id} fails since ${failing_since}${next}${waiting}`,
    remedy:
      'GET C/event-stream/subscriptions/{id}/deliveries shows what it answered. It is tried again by itself, and disabled after five days.',
  };
}
