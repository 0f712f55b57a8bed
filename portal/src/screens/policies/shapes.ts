/** What the server says of policies, and what a draft of one is. */
import type { Answer, Explanation } from '../../why/index.ts';

export type DataSubjects = { relationship?: string; path?: string };
export type Expected = { outcome?: unknown; reason?: string; obligations?: string[] };
/** One case: an input and what the policy must answer. */
export type Case = { name: string; input: Record<string, unknown>; expect: Expected };

export type PolicyView = {
  name: string;
  rego?: string;
  graph?: unknown;
  dataSubjects?: DataSubjects;
  effectiveRego: string;
  revision: number;
  updatedAt: string;
  updatedBy: string;
  managedBy: string;
  tests?: Case[];
};
export type Stored = { policy: PolicyView; etag: string | undefined };

/** What somebody changes. A drawn policy has a graph, another one rego. */
export type Draft = { rego?: string; graph?: unknown; dataSubjects?: DataSubjects; tests: Case[] };

export const draftOf = ({ rego, graph, dataSubjects, tests = [] }: PolicyView): Draft => ({
  ...(graph === undefined ? { rego: rego ?? '' } : { graph }),
  ...(dataSubjects && { dataSubjects }),
  tests,
});
export const isSame = (a: Draft, b: Draft) => JSON.stringify(normal(a)) === JSON.stringify(normal(b));
const normal = ({ rego, graph, dataSubjects, tests }: Draft) => [rego, graph, dataSubjects ?? {}, tests];

/** The policy itself, as PUT, test and replay take it. */
export const sourceOf = ({ rego, graph, dataSubjects }: Draft) => ({
  ...(graph === undefined ? { rego } : { graph }),
  ...(dataSubjects && Object.keys(dataSubjects).length > 0 ? { dataSubjects } : {}),
});
export const bodyOf = (draft: Draft) => ({
  ...sourceOf(draft),
  ...(draft.tests.length > 0 ? { tests: draft.tests } : {}),
});

type Rows = { start: { row: number }; end: { row: number } }[];
export type Coverage = {
  covered?: Rows;
  notCovered?: Rows;
  coverage: number;
  allowReached: boolean;
  tests: number;
  nodes?: { covered: string[]; notCovered: string[] };
};
export const linesOf = (rows: Rows = []) =>
  rows.flatMap(({ start, end }) => Array.from({ length: end.row - start.row + 1 }, (_, index) => start.row + index));

export type Tried = Answer & { explain?: Explanation; coverage?: Coverage };

export type Revision = { revision: number; action: string; updatedAt: string; updatedBy: string };
export type RevisionSource = Revision & { rego?: string; graph?: unknown; effectiveRego?: string };

type Outcome = 'allow' | 'deny' | 'object';
export type Replayed = {
  records: number;
  oldest?: string;
  complete: boolean;
  unchanged: number;
  changed: number;
  notByDraft: number;
  outcomes: { before: Outcome; after: Outcome; count: number }[];
  notEvaluated: { reason: string; count: number }[];
  examples: {
    id: string;
    time: string;
    caller: string;
    request?: { subject?: { type?: string; id?: string }; resource?: { type?: string; id?: string } };
    before?: Answer;
    after?: Answer;
  }[];
};

export type Explained = {
  decision: { id: string; time: string; caller: string; action?: string; answer: Answer; policyRevision?: number };
  answer: Answer;
  differs: { member: string; recorded?: unknown; now?: unknown }[];
  notes: string[];
  explain?: Explanation;
};
