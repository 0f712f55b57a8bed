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
  'id,sequence,time,type,actorType,actorId,userId,name,version,documentVersion,documentLanguage,contentDigest,outcome,requestId,clientId,reason\r\n';

export function csvOf(event: RegisterEvent): string {
  const { actor, document } = event;
  const cells = [
    ...[event.id, event.sequence, event.time, event.type, actor?.type, actor?.id, event.userId, event.name],
    ...[event.version, document?.version, document?.language, event.contentDigest, event.outcome],
    ...[event.requestId, event.clientId, event.reason],
  ];
  return csvLine(cells);
}

/** An entry as support sees it: what was done, and to what, but not who to whom, nor why. */
export function masked({ actor, userId, clientId: _, reason: __, ...event }: RegisterEvent): RegisterEvent {
  return {
    ...event,
    ...(actor === undefined ? {} : { actor: { type: actor.type, id: '***' } }),
    ...(userId === undefined ? {} : { userId: '***' }),
  };
}
