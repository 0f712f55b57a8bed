/** What a policy needs, from the input paths that it reads: which members of the input, and which records for them. */
import type { Reads } from '../rego/schema.ts';
import type { PolicyInput } from './input.ts';
import type { RecordsNeeded } from './schema.ts';

export type Needs = {
  /** Which members of the input it reads. */
  readonly input: Readonly<Record<keyof PolicyInput, boolean>>;
  /** Absent: no relationships, and no stored attributes. */
  readonly records?: RecordsNeeded;
  /** Whether it is told how inherited relationships came about. */
  readonly explain?: boolean;
};

const known = new WeakMap<Reads, Needs>();

/** What a policy needs; worked out once for each policy of a snapshot. */
export function needsOf(reads: Reads): Needs {
  let needs = known.get(reads);
  if (needs === undefined) {
    needs = neededBy(reads);
    known.set(reads, needs);
  }
  return needs;
}

/**
 * What an explained decision is given: everything, but of relationships what the policy reads of them, so that a policy that
 * narrows them explains its decisions about entities that have very many.
 */
export function needsOfExplained(reads: Reads): Needs {
  const { subject = false, resource = false, uses } = needsOf(reads).records ?? {};
  const records = { subject, resource, subjectAttributes: true, resourceAttributes: true, ...(uses ? { uses } : {}) };
  return { input: needsOf({ all: true }).input, records, explain: true };
}

function neededBy(reads: Reads): Needs {
  const under = (...path: string[]) =>
    reads.all || reads.paths.some((read) => path.every((segment, i) => i >= read.length || read[i] === segment));
  const beyondNames = (member: string) =>
    reads.all || reads.paths.some(([top, name]) => top === member && name !== 'id' && name !== 'type');
  const input = {
    ...{ subject: under('subject'), action: under('action'), resource: under('resource'), context: under('context') },
    ...{ tenant: under('tenant'), time: under('time'), graph: under('graph'), consents: under('consents') },
    invitation: under('invitation'),
  };
  const records = {
    subject: under('graph', 'subject'),
    resource: under('graph', 'resource'),
    subjectAttributes: beyondNames('subject'),
    resourceAttributes: beyondNames('resource'),
  };
  if (!Object.values(records).some(Boolean)) return { input };
  return {
    input,
    records: reads.all || reads.narrowing === undefined ? records : { ...records, uses: reads.narrowing },
  };
}
