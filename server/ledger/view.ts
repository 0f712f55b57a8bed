/** How entries are shown: read from lines of JSON, and as lines of CSV (RFC 4180), pure. */
import { csvLine } from '../http/csv.ts';
import type { RegisterEvent } from './schema.ts';

/**
 * Lines of JSON that Postgres wrote, which cost a third of what rows of pg cost.
 * @param lines RegisterEvents, each with a line feed behind it
 */
export function eventsIn(lines: string): RegisterEvent[] {
  return lines === '' ? [] : (JSON.parse(`[${lines.slice(0, -1).replaceAll('\n', ',')}]`) as RegisterEvent[]);
}

export const csvHeader =
  'id,sequence,time,type,actorType,actorId,userId,name,version,documentVersion,documentLanguage,contentDigest,outcome,requestId,clientId\r\n';

export function csvOf(event: RegisterEvent): string {
  const { actor, document } = event;
  const cells = [
    ...[event.id, event.sequence, event.time, event.type, actor?.type, actor?.id, event.userId, event.name],
    ...[event.version, document?.version, document?.language, event.contentDigest, event.outcome],
    ...[event.requestId, event.clientId],
  ];
  return csvLine(cells);
}
