/** Bodies of the requests that carry events: CloudEvents 1.0 in JSON, one or several, and the legacy form. Pure. */
import { cloudEvent, type EventRow } from '../events/index.ts';
import type { DeliverySettings } from './schema.ts';

/** `headers`: beside content-type and those of the signature. */
export type EventBody = { contentType: string; text: string; headers: Readonly<Record<string, string>> };

/**
 * The body of a request.
 * @param events one, unless the format takes several
 * @throws Error for several events in a format of single ones, and for none
 */
export function bodyOf(
  { format, source, legacyOf }: Pick<DeliverySettings, 'format' | 'source' | 'legacyOf'>,
  events: readonly EventRow[],
): EventBody {
  const [event] = events;
  if (event === undefined || (events.length > 1 && format !== 'cloudevents-batch')) {
    throw new Error(`a request of the format ${format} cannot hold ${events.length} events`);
  }
  if (format === 'legacy') {
    // The body does not tell its type.
    const headers = { 'accord-event-type': event.type };
    return { contentType: 'application/json', text: JSON.stringify(legacyOf(event)), headers };
  }
  if (format === 'cloudevents') {
    const text = JSON.stringify(cloudEvent(source, event));
    return { contentType: 'application/cloudevents+json', text, headers: {} };
  }
  const text = JSON.stringify(events.map((one) => cloudEvent(source, one)));
  return { contentType: 'application/cloudevents-batch+json', text, headers: {} };
}
