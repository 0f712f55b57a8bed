/**
 * Owns exporting: page after page, each read when the one before it was taken, so that memory holds one of them. Its rows
 * become lines a few at a time: what is made of a row is gone before V8 counts it among what lives long.
 */
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { type EventRow, eventRow } from './rows.ts';
import { type EventFilter, type Position, readEventLines } from './store.ts';
import { csvHeader, csvOf, eventOf } from './view.ts';

export const exportFormats = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const PIECE_LINES = 50;

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
    const lines = await database.tenant(tenant, (tx) => readEventLines(tx, tenant, filter, page));
    for (let at = 0; at < lines.length; at += PIECE_LINES) {
      const rows = lines.slice(at, at + PIECE_LINES).map(eventRow);
      behind = rows.at(-1);
      yield rows.map(lineOf[format]).join('');
    }
    if (lines.length < limit) return;
  }
}
