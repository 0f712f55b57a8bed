/** Owns how an entry is shown, pure: as a RegisterEvent, or as a line of CSV (RFC 4180). */

import type { EventRow } from './rows.ts';
import type { RegisterEvent } from './schema.ts';

export function eventOf(row: EventRow): RegisterEvent {
  const optional = <Name extends string>(name: Name, value: string | null) =>
    (value === null ? {} : { [name]: value }) as { [Key in Name]?: string };
  const { actor_type: type, actor_id: id } = row;
  const document = {
    ...optional('version', row.document_version),
    ...optional('language', row.document_language),
  };
  return {
    id: row.id,
    ...(row.sequence === null ? {} : { sequence: row.sequence }),
    time: row.time,
    type: row.type,
    ...(type === null || id === null ? {} : { actor: { type, id } }),
    ...optional('userId', row.user_id),
    ...optional('name', row.name),
    ...optional('version', row.version),
    ...(Object.keys(document).length === 0 ? {} : { document }),
    outcome: row.outcome,
    requestId: row.request_id,
    ...optional('clientId', row.client_id),
  };
}

export const csvHeader =
  'id,sequence,time,type,actorType,actorId,userId,name,version,documentVersion,documentLanguage,outcome,requestId,clientId\r\n';

export function csvOf(row: EventRow): string {
  const cells = [
    ...[row.id, row.sequence, row.time, row.type, row.actor_type, row.actor_id, row.user_id, row.name, row.version],
    ...[row.document_version, row.document_language, row.outcome, row.request_id, row.client_id],
  ];
  return `${cells.map(cell).join(',')}\r\n`;
}

/** What a spreadsheet would take for a formula: users choose some of these texts, and others open the file. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | null): string {
  if (value === null) return '';
  const text = FORMULA.test(String(value)) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
