/** Shapes of the facts room: what a decision asks of records, and what it gets. */
import type { Actor } from '../core/auth/schema.ts';
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
type ResourceRelationship = {
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

/** The pending invitation that a request is about. */
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
  /** The invitation that the request is about, or whose requestToken it carries, when that is valid now. */
  readonly invitation?: InvitationFact;
  /** Which side has more relationships than a policy may be given: then there are none here, and the answer is a deny. */
  readonly tooLarge?: 'subject' | 'resource';
};

export const noFacts: Facts = Object.freeze({ graph: Object.freeze({ subject: [], resource: [] }), consents: [] });

/** Which relationships and stored attributes a policy reads: nothing else is fetched. */
export type RecordsNeeded = {
  readonly subject: boolean;
  readonly resource: boolean;
  /** Whether it looks at more of the subject, or the resource, than id and type. */
  readonly subjectAttributes: boolean;
  readonly resourceAttributes: boolean;
  /** Every use of a side of the graph, where each sees only certain entries; a side that is absent is used as a whole. */
  readonly uses?: Pick<Narrowing, 'subject' | 'resource'>;
};

/** The question of one decision: what was asked, at which instant (ms: expiry and consents are judged at it). */
export type Question = {
  readonly tenant: string;
  readonly request: {
    readonly subject?: Readonly<Record<string, unknown>>;
    readonly action?: string;
    readonly resource?: Readonly<Record<string, unknown>>;
    readonly context?: Readonly<Record<string, unknown>>;
  };
  readonly now: number;
  /** The invitation that it is about, where none comes by a requestToken. */
  readonly invitation?: InvitationFact | undefined;
};

/** What of a tenant's snapshot facts depend on. */
export type FactsSnapshot = {
  readonly tenant: string;
  readonly types: Types;
  readonly definitions: Definitions;
  readonly spec: { readonly tokenMapping: { readonly defaultActorType: string } };
};

/** A question about relationships and stored attributes. */
export type RecordsQuestion = {
  tenant: string;
  /** The tenant's types, of the snapshot that decides. */
  types: Types;
  subject: Partial<Actor>;
  resource: Partial<Actor>;
  /** What a policy's comparisons with the subject and the resource compare with: as the request has them. */
  compared?: { subject: Partial<Actor>; resource: Partial<Actor> };
  needed: RecordsNeeded;
  now: number;
  /** Whether it is told how inherited relationships came about. */
  explain?: boolean;
};

/** Who reads what of facts. Rooms above this one are given to it, because they have the records. */
export type FactReaders = {
  /** Relationships and stored attributes; without a promise where there are none to read. */
  records: (question: RecordsQuestion) => Facts | Promise<Facts>;
  consents: (
    about: { tenant: string; userId: string; definitions: Definitions },
    now: number,
  ) => Promise<readonly ConsentFact[]>;
  /** The pending invitation that a requestToken stands for; undefined when the token is not valid at the instant (ms). */
  invitation: (tenant: string, requestToken: string, now: number) => Promise<InvitationFact | undefined>;
};
