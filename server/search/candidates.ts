/**
 * The question whether the relationships of the known side lead to every entity that a search can find, pure. They do
 * when the policy cannot tell entities without such relationships apart (it is then asked once about an entity that is
 * nobody's); otherwise all entities of the type are candidates.
 */

import type { PolicyEntry } from '../policies/index.ts';
import type { GraphTerm, GraphUse } from '../rego/schema.ts';
import { type PathPattern, pathPatternOf } from '../relationships/index.ts';
import type { Types } from '../types/index.ts';

type Named = { type: string; id: string };
type Policy = Pick<PolicyEntry, 'reads' | 'dataSubjects'>;
type Side = 'subject' | 'resource';

/** Entities that paths of this pattern lead to, from (or, searching subjects, to) a known entity. */
export type Root = Named & { readonly pattern: PathPattern };

type Sought = {
  /** What is searched for, and its type. */
  vary: Side;
  type: string;
  /** The other one, as the request has it. */
  known: { type?: string; id?: string };
};

/** Undefined: everything of the type is a candidate. */
export function rootsOf({ reads, dataSubjects }: Policy, types: Types, sought: Sought): Root[] | undefined {
  const { narrowing } = reads.all ? {} : reads;
  if (reads.all || narrowing === undefined || !narrowing.free.includes(sought.vary)) return undefined;
  if (sought.vary === 'subject' && reads.paths.some(([top]) => top === 'consents')) return undefined;
  // Whom its data is about, and what they agreed to, differs from resource to resource, whatever leads to it.
  const areOfCandidate = sought.vary === 'resource' || dataSubjects?.path?.startsWith('subject.');
  if (dataSubjects && areOfCandidate && reads.paths.some(([top]) => top === 'dataSubjects')) return undefined;
  const roots = new Map<string, Root>();
  for (const side of ['subject', 'resource'] as const) {
    if (!reads.paths.some(([top, name]) => top === 'graph' && (name ?? side) === side)) continue;
    const uses = narrowing[side];
    if (uses === undefined) return undefined;
    for (const use of uses) {
      const found = side === sought.vary ? rootsOfOwn(types, sought, use) : rootsOfKnown(types, sought, use);
      if (found === undefined) return undefined;
      for (const { key, ...node } of found)
        roots.set(JSON.stringify([node, key]), { ...node, pattern: patternFor(types, key) });
    }
  }
  return [...roots.values()];
}

type Found = Named & { key: string };

/** A use of the candidate's own relationships: those that lead to an entity that is known. */
function rootsOfOwn(types: Types, sought: Sought, use: GraphUse): Found[] | undefined {
  if (use.id === undefined || isCandidate(use.id, sought)) return undefined;
  const id = saidBy(use.id, sought);
  if (id === undefined) return [];
  return keysOf(types, sought, use).map(({ key, type }) => ({ type, id, key }));
}

/** A use of the known entity's relationships: those that lead to the candidate; the others are the same for every candidate. */
function rootsOfKnown(types: Types, sought: Sought, use: GraphUse): Found[] | undefined {
  if (use.id === undefined || !isCandidate(use.id, sought)) return [];
  const { type, id } = sought.known;
  if (type === undefined || id === undefined) return [];
  // An entry of another type with the candidate's id would do, too.
  const far = use.type === undefined ? undefined : saidBy(use.type, sought);
  if (use.type !== undefined && far === undefined) return [];
  const keys = [...types.relationships].map((key) => key.split(':') as [string, string, string]);
  const fitting = keys.filter(([from, name, to]) => {
    const [near, other] = sought.vary === 'resource' ? [from, to] : [to, from];
    return near === type && (use.name ?? name) === name && (far ?? other) === other;
  });
  if (fitting.some(([from, , to]) => (sought.vary === 'resource' ? to : from) !== sought.type)) return undefined;
  return fitting.map((key) => ({ type, id, key: key.join(':') }));
}

/** Relationship types between the candidate's type and the far end of a use of its own relationships. */
function keysOf(types: Types, sought: Sought, use: GraphUse): { key: string; type: string }[] {
  const far = use.type === undefined ? undefined : saidBy(use.type, sought);
  if (use.type !== undefined && far === undefined) return [];
  return [...types.relationships].flatMap((key) => {
    const [from = '', name = '', to = ''] = key.split(':');
    const [near, other] = sought.vary === 'resource' ? [to, from] : [from, to];
    const fits = near === sought.type && (use.name ?? name) === name && (far ?? other) === other;
    return fits ? [{ key, type: other }] : [];
  });
}

function isCandidate(term: GraphTerm, { vary }: Sought): boolean {
  return 'of' in term && term.of === vary && term.member === 'id';
}

function saidBy(term: GraphTerm, { vary, type, known }: Sought): string | undefined {
  if ('literal' in term) return term.literal;
  if (term.of === vary) return term.member === 'type' ? type : undefined;
  return known[term.member];
}

function patternFor(types: Types, key: string): PathPattern {
  return pathPatternOf(types, key) ?? { begins: new Set([key]), ends: new Set([key]), follows: [] };
}
