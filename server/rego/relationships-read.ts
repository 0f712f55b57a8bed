/** How much of input.graph a policy makes a decision read, said for people: what a dry run, explain and `accord validate` tell. */
import { type Static, Type } from 'typebox';
import type { Reads } from './schema.ts';

const How = (whose: string) =>
  Type.Enum(['none', 'matching', 'all'], {
    description: `Which relationships of ${whose} a decision reads: none, those that the policy compares with (found by their key), or all of them.`,
  });

export const RelationshipsRead = Type.Object(
  {
    subject: How('the subject'),
    resource: How('the resource'),
    line: Type.Optional(
      Type.Integer({ description: 'The first line of the Rego that makes it read all; absent where no line does.' }),
    ),
  },
  { description: 'How much of input.graph a decision reads.' },
);
export type RelationshipsRead = Static<typeof RelationshipsRead>;

export function relationshipsRead(reads: Reads): RelationshipsRead {
  if (reads.all) return { subject: 'all', resource: 'all' };
  const how = (side: 'subject' | 'resource') => {
    const isRead = reads.paths.some(([top, of]) => top === 'graph' && (of === undefined || of === side));
    if (!isRead) return 'none';
    const uses = reads.narrowing?.[side];
    return uses === undefined ? 'all' : uses.length === 0 ? 'none' : 'matching';
  };
  const lines = (reads.narrowing?.wide ?? []).map(({ row }) => row).filter((row) => row > 0);
  const read = { subject: how('subject'), resource: how('resource') } as const;
  const isAll = read.subject === 'all' || read.resource === 'all';
  return { ...read, ...(isAll && lines.length > 0 ? { line: Math.min(...lines) } : {}) };
}

/**
 * The sentence for a policy that reads all relationships of a side; undefined for others.
 * @param options isDrawn: the Rego is made from a graph, so that its lines mean nothing to a reader
 */
export function readsAllNote(reads: Reads, { isDrawn = false } = {}): string | undefined {
  const { subject, resource, line } = relationshipsRead(reads);
  const sides = [...(subject === 'all' ? ['subject'] : []), ...(resource === 'all' ? ['resource'] : [])];
  if (sides.length === 0) return undefined;
  const what = `each decision reads all relationships of the ${sides.join(' and the ')}`;
  if (isDrawn) return `${what}; with fewer relationship conditions it reads only those that match`;
  const where = line === undefined ? '' : ` (line ${line})`;
  return `${what}${where}; compare with constants or with the request to read only those that match`;
}
