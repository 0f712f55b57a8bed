/** Shapes of the facts room: what a decision asks of records, and what it gets. */
import { Type } from 'typebox';
import type { Actor } from '../core/auth/schema.ts';
import { Json, Nullable } from '../core/db/rows.ts';
import type { Definitions } from '../definitions/index.ts';
import type { Narrowing } from '../rego/schema.ts';
import type { Types } from '../types/index.ts';

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

/** A pending invitation that the request comes upon. */
export type InvitationFact = {
  id: string;
  relationshipType: string;
  to: Actor;
  status: 'pending' | 'accepted' | 'declined' | 'revoked' | 'expired';
};

/** A relationship that holds through others: those, from its begin to its end. */
export type InheritedPath = { relationship: Step; through: Step[] };
export type Step = { from: Actor; relationshipType: string; to: Actor };

export type Facts = {
  readonly graph: {
    readonly subject: readonly SubjectRelationship[];
    readonly resource: readonly ResourceRelationship[];
  };
  readonly consents: readonly ConsentFact[];
  /** Stored attributes of the subject and the resource, where they are registered: they win over the request's. */
  readonly subject?: Readonly<Record<string, unknown>>;
  readonly resource?: Readonly<Record<string, unknown>>;
  /** For explain: how inherited relationships came about. */
  readonly inherited?: readonly InheritedPath[];
  /** The invitation whose requestToken the request carries, when that is valid now. */
  readonly invitation?: InvitationFact;
  /** Which side has more relationships than a policy may be given: then there are none here, and the answer is a deny. */
  readonly tooLarge?: 'subject' | 'resource';
};

/** Which facts a policy reads: nothing else is fetched. */
export type FactsNeeded = {
  readonly subject: boolean;
  readonly resource: boolean;
  readonly consents: boolean;
  /** Whether it looks at more of the subject, or the resource, than id and type. */
  readonly subjectAttributes: boolean;
  readonly resourceAttributes: boolean;
  /** Every use of a side of the graph, where each sees only certain entries; a side that is absent is used as a whole. */
  readonly uses?: Pick<Narrowing, 'subject' | 'resource'>;
};

export type FactsQuestion = {
  tenant: string;
  /** The tenant's types, of the snapshot that decides. */
  types: Types;
  subject: Partial<Actor>;
  resource: Partial<Actor>;
  /** What a policy's comparisons with the subject and the resource compare with: as the request has them. */
  compared?: { subject: Partial<Actor>; resource: Partial<Actor> };
  needed: FactsNeeded;
  /** Which subjects have consents, and what of: of the snapshot that decides. Absent: none have. */
  users?: { readonly type: string; readonly definitions: Definitions };
  /** The instant of the request, ms: expiry and consents are judged at it. */
  now: number;
  explain?: boolean;
};

/** Gathers the facts of one question, or of many that were asked together; without a promise when there are none to read. */
export type FactsSource = { gather(question: FactsQuestion): Facts | Promise<Facts> };

export const noFacts: Facts = Object.freeze({ graph: Object.freeze({ subject: [], resource: [] }), consents: [] });

/**
 * What a query of facts gives: stored relationships on the ways from a subject or to a resource, with the attributes of
 * their far ends; and attributes of the subject and the resource themselves.
 */
export const FactRow = Type.Object({
  /** What it was found for: the number that this has in the query. */
  p: Type.Integer(),
  from_type: Nullable(Type.String()),
  from_id: Nullable(Type.String()),
  name: Nullable(Type.String()),
  to_type: Nullable(Type.String()),
  to_id: Nullable(Type.String()),
  attributes: Nullable(Json<Record<string, unknown>>()),
});
export type Named = { type: string; id: string };
export type Edge = { from: Actor; name: string; to: Actor; attributes: Record<string, unknown> | undefined };
