/** How much of input.graph a policy makes a decision read, said for people: what a dry run, explain and `accord validate` tell. */
import { type Static, Type } from 'typebox';
import type { Reads } from './schema.ts';

const How = (whose: string) =>
  Type.Enum(['none', 'matching', 'byType', 'all'], {
    description: `Which relationships of ${whose} a decision reads. none: no relationships. matching: those whose other end the policy compares with, found by their key. byType: all of the types that the policy compares with. all: all.`,
  });

export const RelationshipsRead = Type.Object(
  {
    subject: How('the subject'),
    resource: How('the resource'),
    line: Type.Optional(
      Type.Integer({
        description:
          'The first line of the Rego because of which all relationships, or all of a type, are read. Absent if there is none.',
      }),
    ),
  },
  { description: 'How much of input.graph a decision reads.' },
);
export type RelationshipsRead = Static<typeof RelationshipsRead>;

const sides = ['subject', 'resource'] as const;

export function relationshipsRead(reads: Reads): RelationshipsRead {
  if (reads.all) return { subject: 'all', resource: 'all' };
  const { narrowing } = reads;
  const how = (side: (typeof sides)[number]) => {
    const isRead = reads.paths.some(([top, of]) => top === 'graph' && (of === undefined || of === side));
    const uses = narrowing?.[side];
    if (!isRead || uses?.length === 0) return 'none';
    if (uses === undefined) return 'all';
    return narrowing?.byType?.some((use) => use.side === side) ? 'byType' : 'matching';
  };
  const read = { subject: how('subject'), resource: how('resource') } as const;
  const isAll = sides.some((side) => read[side] === 'all');
  const rows = ((isAll ? narrowing?.wide : narrowing?.byType) ?? [])
    .filter(({ side, row }) => row > 0 && (read[side] === 'all' || read[side] === 'byType'))
    .map(({ row }) => row);
  return { ...read, ...(rows.length > 0 ? { line: Math.min(...rows) } : {}) };
}

/**
 * The sentence for a policy that reads all relationships of a side, or all of a type; undefined for others.
 * @param drawn of a policy that is drawn: the nodes that make it so, where they are known; its Rego has no lines of the author's
 */
export function readsNote(
  reads: Reads,
  drawn?: { nodes: string | undefined },
): { how: 'all' | 'byType'; note: string } | undefined {
  const read = relationshipsRead(reads);
  const how = (['all', 'byType'] as const).find((one) => sides.some((side) => read[side] === one));
  if (how === undefined) return undefined;
  const whose = sides.filter((side) => read[side] === how).join(' and the ');
  const line = read.line === undefined ? undefined : `line ${read.line}`;
  const place = drawn === undefined ? line : drawn.nodes;
  const where = place === undefined ? '' : ` (${place})`;
  const remedy =
    drawn === undefined
      ? 'compare with constants or with the request to read only those that match'
      : 'with fewer relationship conditions it reads only those that match';
  const note =
    how === 'all'
      ? `each decision reads all relationships of the ${whose}${where}; ${remedy}`
      : `each decision reads all relationships of the ${whose} that have the types the policy compares with${where}; compare the id, too, to read only those that match`;
  return { how, note };
}
