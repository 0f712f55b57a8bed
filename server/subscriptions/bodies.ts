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
  { format, source }: Pick<DeliverySettings, 'format' | 'source'>,
  events: readonly EventRow[],
): EventBody {
  const [event] = events;
  if (event === undefined || (events.length > 1 && format !== 'cloudevents-batch')) {
    throw new Error(`a request of the format ${format} cannot hold ${events.length} events`);
  }
  if (format === 'legacy') {
    // The body does not tell its type.
    const headers = { 'accord-event-type': event.type };
    return { contentType: 'application/json', text: JSON.stringify(legacyData(event)), headers };
  }
  if (format === 'cloudevents') {
    const text = JSON.stringify(cloudEvent(source, event));
    return { contentType: 'application/cloudevents+json', text, headers: {} };
  }
  const text = JSON.stringify(events.map((one) => cloudEvent(source, one)));
  return { contentType: 'application/cloudevents-batch+json', text, headers: {} };
}

/** Three types have a form of their own; the others are their data as it is. */
function legacyData({ type, body }: Pick<EventRow, 'type' | 'body'>): Record<string, unknown> {
  if (type === 'RELATIONSHIP_CREATED') return picked(body, ['requestor', 'from', 'to', 'relationshipType']);
  if (type === 'INVITATION_CREATED') {
    const { invitee, ...data } = picked(body, ['requestor', 'target', 'invitor', 'invitationId', 'invitee']);
    const { contact } = invitee as { contact?: unknown };
    return { ...data, invitee: { contact } };
  }
  if (type !== 'RELATIONSHIPS_DELETED') return body;
  const { requestor, fromType, fromId, relationshipType, toType, toId } = body;
  return {
    requestor,
    ...(relationshipType === undefined ? {} : { relationshipTypes: [relationshipType] }),
    ...entity('from', fromType, fromId),
    ...entity('to', toType, toId),
  };
}

/** What is absent matched every value, and stays absent. */
function entity(name: 'from' | 'to', type: unknown, id: unknown): Record<string, unknown> {
  if (type === undefined && id === undefined) return {};
  return { [name]: { ...(type === undefined ? {} : { type }), ...(id === undefined ? {} : { id }) } };
}

function picked(data: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => data[name] !== undefined).map((name) => [name, data[name]]));
}
