/** Shapes of the facts room: what a decision asks of records, and what it gets. */
import type { Actor, Caller } from '../core/auth/schema.ts';
import type { Definitions } from '../definitions/index.ts';
import type { Failure } from '../policies/index.ts';
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
/** A definition that the subject consented to, evaluated at the instant of the request. */
export type ConsentFact = {
  name: string;
  version: string;
  document: { version: string; language: string };
  status: 'given' | 'valid' | 'grace' | 'required' | 'expired';
  sufficient: boolean;
};

/** A person whom the data is about, with its consents. */
export type DataSubject = Actor & { consents: readonly ConsentFact[] };

/** Why a request is denied before its policy is evaluated: the reason of the answer, and the detail for the log. */
export type Denial = { readonly reason: Failure; readonly detail: string };

/** The pending invitation that a request is about. */
export type InvitationFact = {
  id: string;
  relationshipType: string;
  to: Actor;
  status: 'pending' | 'accepted' | 'declined' | 'revoked' | 'expired';
  invitor: Actor;
  /** RFC 3339 in UTC with milliseconds, as input.time. */
  expiresAt: string;
  /** Whether the caller's token has the invited address as a verified one. */
  contactMatches: boolean;
};

/** A relationship that holds through others: those, from its begin; `leftOut`: how many more there are up to its end. */
export type InheritedPath = { relationship: Step; through: Step[]; leftOut?: number };
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
  /** The data subjects, sorted by type and id; not empty if the policy states and reads them. */
  readonly dataSubjects?: readonly DataSubject[];
  /** Set if a fact is missing, invalid or too large: then the answer is a deny, because a policy must not see a part of the facts. */
  readonly denial?: Denial;
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

/** What facts are gathered for: what was asked, at which instant (ms: expiry and consents are evaluated at it). */
export type FactsQuery = {
  readonly tenant: string;
  readonly request: {
    readonly subject?: Readonly<Record<string, unknown>>;
    readonly action?: string;
    readonly resource?: Readonly<Record<string, unknown>>;
    readonly context?: Readonly<Record<string, unknown>>;
  };
  readonly now: number;
  /** The kind of caller. Absent: one that may not name a data subject. */
  readonly caller?: Caller['kind'] | undefined;
  /** The invitation that it is about, where none comes by a requestToken. */
  readonly invitation?: InvitationFact | undefined;
  /** The verified mail address of the subject, where it asks itself. */
  readonly email?: string | undefined;
};

/** What of a tenant's snapshot facts depend on. */
export type FactsSnapshot = {
  readonly tenant: string;
  readonly types: Types;
  readonly definitions: Definitions;
  readonly spec: { readonly tokenMapping: { readonly defaultActorType: string } };
};

/** A query of relationships and stored attributes. */
export type RecordsQuery = {
  tenant: string;
  /** The tenant's types, of the snapshot that decides. */
  types: Types;
  subject: Partial<Actor>;
  resource: Partial<Actor>;
  /** What a policy's comparisons with the subject and the resource compare with: as the request has them. */
  compared?: { subject: Partial<Actor>; resource: Partial<Actor> };
  needed: RecordsNeeded;
  now: number;
  /** Whether the answer includes how inherited relationships were derived. */
  explain?: boolean;
};

/** Relationships of a type (from:name:type of `to`) to an entity. */
export type Holding = { readonly from: string; readonly name: string; readonly to: Actor };
/** A query of the consents of the holders of a relationship, and of users who are named. */
export type HoldersQuery = {
  readonly tenant: string;
  readonly definitions: Definitions;
  readonly holding?: Holding;
  readonly persons: readonly string[];
};
/** `holders`: one more than limits.dataSubjectsMax where there are more; `consents` by id. */
export type HoldersFound = {
  readonly holders: readonly string[];
  readonly consents: ReadonlyMap<string, readonly ConsentFact[]>;
};

/** Who reads what of facts. Rooms above this one are given to it, because they have the records. */
export type FactReaders = {
  /** Relationships and stored attributes; without a promise where there are none to read. */
  records: (query: RecordsQuery) => Facts | Promise<Facts>;
  consents: (
    about: { tenant: string; userId: string; definitions: Definitions },
    now: number,
  ) => Promise<readonly ConsentFact[]>;
  dataSubjects: (about: HoldersQuery, now: number) => Promise<HoldersFound>;
  /**
   * The pending invitation of a requestToken; undefined when the token is not valid at the instant (ms).
   * @param email the verified address that the invited one is compared with
   */
  invitation: (
    tenant: string,
    requestToken: string,
    now: number,
    email: string | undefined,
  ) => Promise<InvitationFact | undefined>;
};
