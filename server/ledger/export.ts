/**
 * Exporting: page after page, each read when the one before it was taken, so that memory holds one of them. A page is
 * a text that Postgres wrote (store.ts): with objects for each entry 80 to 90 MiB more were resident.
 */
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { ExportFormat } from '../http/open-exports.ts';
import { type EventFilter, type Position, readEventLines } from './store.ts';
import { csvHeader, csvOf, eventsIn } from './view.ts';

const textOf: Record<ExportFormat, (lines: string) => string> = {
  ndjson: (lines) => lines,
  csv: (lines) => eventsIn(lines).map(csvOf).join(''),
};

/** The entries as text, oldest first; reading stops when the consumer does. */
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
    const { lines, count } = await database.read(tenant, (tx) => readEventLines(tx, tenant, filter, page));
    if (count > 0) yield textOf[format](lines);
    if (count < limit) return;
    behind = eventsIn(lines.slice(lines.lastIndexOf('\n', lines.length - 2) + 1))[0];
  }
}
