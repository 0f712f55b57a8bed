/** Whether events get their numbers. */
import type { Database } from '../core/db/database.ts';
import type { DoctorCheck } from '../room/doctor.ts';
import { readWaitingSeconds } from './store.ts';

/** A server numbers them within a second. */
const LATE_SECONDS = 30;

export function eventsCheck({ database }: { database: Database }): DoctorCheck {
  return {
    name: 'events',
    async run() {
      const seconds = await database.system(readWaitingSeconds);
      if (seconds < LATE_SECONDS) return [{ status: 'ok', found: 'events are numbered' }];
      const found = `an event has been waiting for its number for ${seconds} seconds: nobody reads or receives it`;
      const remedy =
        'A running accord serve numbers events. Start one, or look for background_failed with the task "numbering events" in its log.';
      return [{ status: 'warning', found, remedy }];
    },
  };
}
