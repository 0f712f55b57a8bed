/** What the server says of policies, and what a draft of one is. */
import type { Answer, Explanation } from '../../why/schema.ts';
import { isSameGraph, readGraph } from './graph/model.ts';
import { ordered } from './same.ts';

export type DataSubjects = { relationship?: string; path?: string };
export type Expected = { outcome?: unknown; reason?: string; obligations?: string[] };
/** One case: an input and what the policy must answer. */
export type Case = { name: string; input: Record<string, unknown>; expect: Expected };

/** Which lines of its Rego were made from which node of a drawing. */
export type NodeLines = readonly { node: string; start: number; end: number }[];
export type DrawnRego = { effectiveRego: string; nodeLines?: NodeLines };

export type PolicyView = DrawnRego & {
  name: string;
  rego?: string;
  graph?: unknown;
  dataSubjects?: DataSubjects;
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
/** What is stored when a draft was, where the answer to the PUT is all that is known of it. */
export function storedAs(
  { rego, graph, dataSubjects, tests }: Draft,
  of: { name: string; etag: string | undefined; before: PolicyView | undefined; by: string },
): Stored {
  const { name, etag, before, by: updatedBy } = of;
  const policy: PolicyView = {
    ...{ name, managedBy: before?.managedBy ?? 'api', updatedBy, updatedAt: new Date().toISOString(), tests },
    revision: Number(etag?.replaceAll('"', '')),
    ...(graph === undefined ? { rego: rego ?? '' } : { graph }),
    ...(dataSubjects && { dataSubjects }),
    effectiveRego: rego ?? before?.effectiveRego ?? '',
  };
  return { policy, etag };
}
/** Whether two drafts mean the same, in whatever order the members of their objects are. */
export const isSame = (a: Draft, b: Draft) =>
  ordered(rest(a)) === ordered(rest(b)) &&
  (a.graph === undefined) === (b.graph === undefined) &&
  isSameGraph(readGraph(a.graph), readGraph(b.graph));
const rest = ({ rego, dataSubjects, tests }: Draft) => [rego, dataSubjects ?? {}, tests];

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

export type Tried = Answer & Partial<DrawnRego> & { explain?: Explanation; coverage?: Coverage };

export type Revision = { revision: number; action: string; updatedAt: string; updatedBy: string };
export type RevisionSource = Revision & { rego?: string; graph?: unknown; effectiveRego?: string };

type Outcome = 'allow' | 'deny' | 'object';
export type Replayed = {
  records: number;
  /** The mode of the decision log. */
  decisionLog: string;
  oldest?: string;
  complete: boolean;
  unchanged: number;
  changed: number;
  /** Of `changed`: what is stored answers like the draft. They are no examples. */
  notByDraft: number;
  outcomes: { before: Outcome; after: Outcome; count: number; notByDraft: number }[];
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
