/** Owns exporting: page after page, each read when the one before it was taken, so that memory holds one of them. */
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { EventRow } from './rows.ts';
import { type EventFilter, type Position, readEvents } from './store.ts';
import { csvHeader, csvOf, eventOf } from './view.ts';

export const exportFormats = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const lineOf: Record<ExportFormat, (row: EventRow) => string> = {
  ndjson: (row) => `${JSON.stringify(eventOf(row))}\n`,
  csv: csvOf,
};

/** The entries as text, oldest first; whoever stops taking it ends the reading. */
export async function* exported(
  database: Database,
  tenant: string,
  filter: EventFilter,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvHeader;
  const limit = limits.ledgerExportPageItemsMax;
  let behind: Position | undefined;
  for (;;) {
    const page = { newestFirst: false, behind, limit };
    const rows = await database.tenant(tenant, (tx) => readEvents(tx, tenant, filter, page));
    if (rows.length > 0) yield rows.map(lineOf[format]).join('');
    if (rows.length < limit) return;
    behind = rows.at(-1);
  }
}
