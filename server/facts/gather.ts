/**
 * Gathering: what of a tenant's records a decision is given. Relationships and attributes, consents, data subjects and an
 * invitation are read side by side, each only when the policy needs it.
 */
import type { Actor } from '../core/auth/schema.ts';
import { asChild, type Span } from '../core/span.ts';
import { dataSubjectsOf } from './data-subjects.ts';
import type { Needs } from './needs.ts';
import {
  type ConsentFact,
  type FactReaders,
  type Facts,
  type FactsQuery,
  type FactsSnapshot,
  type InvitationFact,
  noFacts,
  type RecordsNeeded,
} from './schema.ts';

/** Gathers the facts of a decision; without a promise when there is nothing to read. */
export type FactsSource = {
  /** @param span under which the readings are traced */
  gather(snapshot: FactsSnapshot, query: FactsQuery, needs: Needs, span?: Span): Facts | Promise<Facts>;
};

export class FactGatherer implements FactsSource {
  readonly #readers: FactReaders;

  constructor(readers: FactReaders) {
    this.#readers = readers;
  }

  gather(snapshot: FactsSnapshot, query: FactsQuery, needs: Needs, span?: Span): Facts | Promise<Facts> {
    const readers = span === undefined ? this.#readers : tracedReaders(this.#readers, span);
    const { input, records, dataSubjects: stated } = needs;
    const stored = records === undefined ? noFacts : readRecords(readers, snapshot, query, records, needs.explain);
    const consents = input.consents ? readConsents(readers, snapshot, query) : undefined;
    const invitation = input.invitation ? readInvitation(readers, snapshot, query) : undefined;
    const about = stated && dataSubjectsOf({ readers, snapshot, query, stated, stored });
    if (consents === undefined && invitation === undefined && about === undefined) return stored;
    return Promise.all([stored, consents, invitation, about]).then(([facts, given, invited, persons]) => ({
      ...persons,
      ...facts,
      ...(given === undefined ? {} : { consents: given }),
      ...(invited === undefined ? {} : { invitation: invited }),
    }));
  }
}

function readRecords(
  readers: FactReaders,
  snapshot: FactsSnapshot,
  { request, now }: FactsQuery,
  needed: RecordsNeeded,
  explain = false,
) {
  const { tenant, types, spec } = snapshot;
  const compared = { subject: named(request.subject), resource: named(request.resource) };
  const subject = typed(compared.subject, spec.tokenMapping.defaultActorType);
  const { resource } = compared;
  return readers.records({ tenant, types, subject, resource, compared, needed, now, explain });
}

/** Undefined if the subject cannot have consents. */
function readConsents(
  readers: FactReaders,
  { tenant, definitions, spec }: FactsSnapshot,
  { request, now }: FactsQuery,
): Promise<readonly ConsentFact[]> | undefined {
  const { defaultActorType } = spec.tokenMapping;
  const { type, id: userId } = typed(named(request.subject), defaultActorType);
  if (type !== defaultActorType || userId === undefined || definitions.size === 0) return undefined;
  return readers.consents({ tenant, userId, definitions }, now);
}

function readInvitation(
  readers: FactReaders,
  { tenant }: FactsSnapshot,
  { request, invitation, now, email }: FactsQuery,
): InvitationFact | Promise<InvitationFact | undefined> | undefined {
  if (invitation !== undefined) return invitation;
  const token = request.context?.requestToken;
  return typeof token === 'string' ? readers.invitation(tenant, token, now, email) : undefined;
}

/** Readers each of whose readings is a span. */
function tracedReaders({ records, consents, dataSubjects, invitation }: FactReaders, span: Span): FactReaders {
  return {
    records: (query) => asChild(span, 'read relationships', () => records(query)),
    consents: async (...asked) => asChild(span, 'read consents', () => consents(...asked)),
    dataSubjects: async (...asked) => asChild(span, 'read data subjects', () => dataSubjects(...asked)),
    invitation: async (...asked) => asChild(span, 'read invitation', () => invitation(...asked)),
  };
}

function named(value: Readonly<Record<string, unknown>> | undefined): Partial<Actor> {
  const found: Partial<Actor> = {};
  if (typeof value?.id === 'string') found.id = value.id;
  if (typeof value?.type === 'string') found.type = value.type;
  return found;
}

/** A subject that does not say its type has the one that actors of the tenant have by default. */
function typed(subject: Partial<Actor>, type: string): Partial<Actor> {
  return subject.type === undefined ? { ...subject, type } : subject;
}
