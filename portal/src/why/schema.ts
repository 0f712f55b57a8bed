import type { Condition } from '../../../crds/graph.ts';

/** What the server tells of a decision: `explain` of POST C/policies/{p}/test, of C/decisions/{id}/explain and of /authz?explain=true (docs/explain.md). */
export type Entity = { type?: string; id?: string };
export type MissingFact = {
  relationship?: { relationshipType?: string; alternatives?: string[]; from: Entity; to: Entity };
  /** Without a subject where the question names none. */
  consent?: { name?: string; subject?: Entity; status: string };
  text: string;
};
type ShownValue = { of: string; value?: unknown; cut?: true };
export type FailedCondition = {
  line?: number;
  file?: string;
  text: string;
  /** Of a drawn policy: the condition as it is drawn. */
  drawn?: Condition;
  values: ShownValue[];
  item?: { line?: number; file?: string; text: string; values: ShownValue[] };
  missing?: MissingFact[];
  because?: WhyNotRule[];
};
export type WhyNotRule = {
  line?: number;
  file?: string;
  node?: string;
  text: string;
  condition?: FailedCondition;
  conditions?: FailedCondition[];
  answer?: 'true' | 'false';
  held?: true;
  value?: unknown;
  heldFor?: ShownValue[];
  notReached?: { line?: number };
  wouldAllowIf?: MissingFact[];
};
export type Consent = { name: string; version?: string; status: string; sufficient: boolean };
export type Step = { from: Entity; relationshipType: string; to: Entity };
/** An end without id may be any of its type. */
export type PathStep = Step & { missing?: true };
/** Relationships from the begin of a path; `leftOut`: how many more of it the server did not tell. */
export type KnownPath = { through: readonly PathStep[]; leftOut?: number };
/** The relationships over which one is inherited, or would be. */
export type Inherited = KnownPath & { relationship: Step };
type Graph = {
  subject?: readonly { relationshipType: string; to: Entity }[];
  resource?: readonly { relationshipType: string; from: Entity }[];
};
/** Each member may be absent: what support may not see is left out. */
export type Explanation = {
  policy?: string;
  revision?: number;
  input?: Record<string, unknown>;
  facts?: {
    graph?: Graph;
    consents?: readonly Consent[];
    inherited?: readonly Inherited[];
    dataSubjects?: readonly { type: string; id: string; consents: readonly Consent[] }[];
  };
  rules: { line: number; text: string }[];
  /** For support, in place of those of the facts. */
  inherited?: readonly Inherited[];
  missingPaths?: readonly Inherited[];
  missingConsents?: { type: string; id: string; name: string; status: string }[];
  path?: string[];
  whyNot?: { rules: WhyNotRule[]; truncated?: true };
  whyNotUnavailable?: string;
  failure?: { reason: string; detail: string };
  timeUs?: number;
};
export type Answer = { outcome: unknown; reason?: unknown; obligations?: unknown };
