/**
 * The facts interface: what a decision needs from records (relationships, consents), gathered in one step before the
 * pure `decide`. The rooms that own these records stand behind it; until they do, there are none, and every policy
 * that asks for them sees empty lists.
 */
import type { Actor } from '../core/auth/schema.ts';
import type { Reads } from '../rego/schema.ts';

/** A relationship of the subject, as a policy sees it; `type` equals `relationshipType`. */
export type SubjectRelationship = {
  type: string;
  relationshipType: string;
  to: { type: string; id: string } & Record<string, unknown>;
};
/** A relationship to the resource. */
export type ResourceRelationship = {
  type: string;
  relationshipType: string;
  from: { type: string; id: string } & Record<string, unknown>;
};
/** A definition that the subject consented to, judged at the instant of the request. */
export type ConsentFact = {
  name: string;
  version: string;
  document: { version: string; language: string };
  status: 'given' | 'valid' | 'grace' | 'required' | 'expired';
  sufficient: boolean;
};

export type Facts = {
  readonly graph: {
    readonly subject: readonly SubjectRelationship[];
    readonly resource: readonly ResourceRelationship[];
  };
  readonly consents: readonly ConsentFact[];
};

/** Which facts a policy reads: nothing else is fetched. */
export type FactsNeeded = { subject: boolean; resource: boolean; consents: boolean };

export type FactsQuestion = {
  tenant: string;
  subject: Partial<Actor>;
  resource: Partial<Actor>;
  needed: FactsNeeded;
  /** The instant of the request, ms: expiry and consents are judged at it. */
  now: number;
};

/** Gathers the facts of one question, or of many that were asked together. */
export type FactsSource = { gather(question: FactsQuestion): Promise<Facts> };

export const noFacts: Facts = Object.freeze({ graph: Object.freeze({ subject: [], resource: [] }), consents: [] });

/** The source while no room owns records. */
export const emptyFacts: FactsSource = { gather: async () => noFacts };

const needs = new WeakMap<Reads, FactsNeeded>();

/** From the input paths that a policy reads, which facts it needs; worked out once for each policy of a snapshot. */
export function factsNeeded(reads: Reads): FactsNeeded {
  let needed = needs.get(reads);
  if (needed === undefined) {
    needed = neededBy(reads);
    needs.set(reads, needed);
  }
  return needed;
}

function neededBy(reads: Reads): FactsNeeded {
  const under = (...path: string[]) =>
    reads.all || reads.paths.some((read) => path.every((segment, i) => i >= read.length || read[i] === segment));
  return { subject: under('graph', 'subject'), resource: under('graph', 'resource'), consents: under('consents') };
}
