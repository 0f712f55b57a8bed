/** An event as receivers see it: a CloudEvent; and which types a list of patterns names. Pure. */
import { problem } from '../core/problems.ts';
import type { CloudEvent, EventRow } from './schema.ts';

/** @param source the address of the tenant's Management APIs */
export function cloudEvent(source: string, { id, type, time, key, sequence, body }: EventRow): CloudEvent {
  return {
    ...{ specversion: '1.0', id, source, type, time: new Date(time).toISOString(), subject: key },
    ...{ datacontenttype: 'application/json', sequence: sequenceText(sequence), partitionkey: key, data: body },
  };
}

/** CloudEvents wants a text whose order is that of the events. */
function sequenceText(sequence: number): string {
  return String(sequence).padStart(16, '0');
}

/**
 * The types that patterns name: names, or beginnings with a `*` at the end.
 * @throws Problem invalid_request for a pattern that names none
 */
export function typesNamed(patterns: readonly string[], known: readonly string[], pointer: string): string[] {
  const named = patterns.flatMap((pattern) => {
    const found = known.filter((type) =>
      pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern,
    );
    if (found.length > 0) return found;
    const detail = `No event type is named ${pattern}. GET /tenants/{tenant}/event-stream/event-types lists them.`;
    throw problem('invalid_request', { detail, errors: [{ pointer, detail }] });
  });
  return [...new Set(named)];
}
