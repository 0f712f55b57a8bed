/** Owns which facts a policy needs, from the input paths that it reads. */
import type { Reads } from '../rego/schema.ts';
import type { FactsNeeded } from './schema.ts';

const needs = new WeakMap<Reads, FactsNeeded | { none: true }>();

/** Which facts a policy needs, or undefined when it needs none; worked out once for each policy of a snapshot. */
export function factsNeeded(reads: Reads): FactsNeeded | undefined {
  let needed = needs.get(reads);
  if (needed === undefined) {
    needed = neededBy(reads);
    needs.set(reads, needed);
  }
  return 'none' in needed ? undefined : needed;
}

function neededBy(reads: Reads): FactsNeeded | { none: true } {
  const under = (...path: string[]) =>
    reads.all || reads.paths.some((read) => path.every((segment, i) => i >= read.length || read[i] === segment));
  const beyondNames = (member: string) =>
    reads.all || reads.paths.some(([top, name]) => top === member && name !== 'id' && name !== 'type');
  const needed: FactsNeeded = {
    subject: under('graph', 'subject'),
    resource: under('graph', 'resource'),
    consents: under('consents'),
    subjectAttributes: beyondNames('subject'),
    resourceAttributes: beyondNames('resource'),
  };
  if (!Object.values(needed).some(Boolean)) return { none: true };
  return reads.all || reads.narrowing === undefined ? needed : { ...needed, uses: reads.narrowing };
}
