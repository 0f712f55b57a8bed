/**
 * Gathering: what of a tenant's records a decision is given. Relationships and attributes, consents, data subjects and an
 * invitation are read side by side, each only when the policy needs it.
 */
import type { Actor } from '../core/auth/schema.ts';
import { dataSubjectsOf } from './data-subjects.ts';
import type { Needs } from './needs.ts';
import {
  type FactReaders,
  type Facts,
  type FactsSnapshot,
  type InvitationFact,
  noFacts,
  type Question,
  type RecordsNeeded,
} from './schema.ts';

/** Gathers the facts of a question; without a promise when there is nothing to read. */
export type FactsSource = { gather(snapshot: FactsSnapshot, question: Question, needs: Needs): Facts | Promise<Facts> };

export class FactGatherer implements FactsSource {
  readonly #readers: FactReaders;

  constructor(readers: FactReaders) {
    this.#readers = readers;
  }

  gather(snapshot: FactsSnapshot, question: Question, needs: Needs): Facts | Promise<Facts> {
    const { input, records, dataSubjects: stated } = needs;
    const stored = records === undefined ? noFacts : this.#records(snapshot, question, records, needs.explain);
    const consents = input.consents ? this.#consents(snapshot, question) : undefined;
    const invitation = input.invitation ? this.#invitation(snapshot, question) : undefined;
    const about = stated && dataSubjectsOf({ readers: this.#readers, snapshot, question, stated, stored });
    if (consents === undefined && invitation === undefined && about === undefined) return stored;
    return Promise.all([stored, consents, invitation, about]).then(([facts, given, invited, persons]) => ({
      ...persons,
      ...facts,
      ...(given === undefined ? {} : { consents: given }),
      ...(invited === undefined ? {} : { invitation: invited }),
    }));
  }

  #records(snapshot: FactsSnapshot, { request, now }: Question, needed: RecordsNeeded, explain = false) {
    const { tenant, types, spec } = snapshot;
    const compared = { subject: named(request.subject), resource: named(request.resource) };
    const subject = typed(compared.subject, spec.tokenMapping.defaultActorType);
    return this.#readers.records({
      tenant,
      types,
      subject,
      resource: compared.resource,
      compared,
      needed,
      now,
      explain,
    });
  }

  /** Undefined if the subject cannot have consents. */
  #consents({ tenant, definitions, spec }: FactsSnapshot, { request, now }: Question) {
    const { defaultActorType } = spec.tokenMapping;
    const { type, id: userId } = typed(named(request.subject), defaultActorType);
    if (type !== defaultActorType || userId === undefined || definitions.size === 0) return undefined;
    return this.#readers.consents({ tenant, userId, definitions }, now);
  }

  #invitation(
    { tenant }: FactsSnapshot,
    { request, invitation, now, email }: Question,
  ): InvitationFact | Promise<InvitationFact | undefined> | undefined {
    if (invitation !== undefined) return invitation;
    const token = request.context?.requestToken;
    return typeof token === 'string' ? this.#readers.invitation(tenant, token, now, email) : undefined;
  }
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
