/** What a policy needs, from the input paths that it reads: which members of the input, and which records for them. */
import type { DataSubjects } from '../../crds/data-subjects.ts';
import type { PolicyEntry } from '../policies/index.ts';
import type { PolicyInput } from './input.ts';
import type { RecordsNeeded } from './schema.ts';

export type Needs = {
  /** Which members of the input it reads. */
  readonly input: Readonly<Record<keyof PolicyInput, boolean>>;
  /** Absent: no relationships, and no stored attributes. */
  readonly records?: RecordsNeeded;
  /** Absent: the policy does not read the data subjects. */
  readonly dataSubjects?: DataSubjects;
  /** Whether the answer includes how inherited relationships were derived. */
  readonly explain?: boolean;
};

/** What of a policy says what it needs. */
type Policy = Pick<PolicyEntry, 'reads' | 'dataSubjects'>;

const known = new WeakMap<Policy, Needs>();

/** What a policy needs; worked out once for each policy of a snapshot. */
export function needsOf(policy: Policy): Needs {
  let needs = known.get(policy);
  if (needs === undefined) {
    needs = neededBy(policy);
    known.set(policy, needs);
  }
  return needs;
}

/**
 * What an explained decision is given: everything, but of relationships what the policy reads of them, so that a policy that
 * narrows them explains its decisions about entities that have very many.
 */
export function needsOfExplained(policy: Policy): Needs {
  const { records: own, dataSubjects, input } = needsOf(policy);
  const { subject = false, resource = false, uses } = own ?? {};
  const records = { subject, resource, subjectAttributes: true, resourceAttributes: true, ...(uses ? { uses } : {}) };
  const all = { ...neededBy({ reads: { all: true } }).input, dataSubjects: input.dataSubjects };
  return { input: all, records, ...(dataSubjects ? { dataSubjects } : {}), explain: true };
}

/** Records to explain something by, without a policy. */
export function recordsOnly(records: RecordsNeeded): Needs {
  return { input: neededBy({ reads: { all: false, paths: [] } }).input, records, explain: true };
}

function neededBy({ reads, dataSubjects }: Policy): Needs {
  const under = (...path: string[]) =>
    reads.all || reads.paths.some((read) => path.every((segment, i) => i >= read.length || read[i] === segment));
  const stated = under('dataSubjects') ? dataSubjects : undefined;
  const named = stated?.path === undefined ? [] : [stated.path.split('.')];
  const beyondNames = (member: string) =>
    reads.all || [...reads.paths, ...named].some(([top, name]) => top === member && name !== 'id' && name !== 'type');
  const input = {
    ...{ subject: under('subject'), action: under('action'), resource: under('resource'), context: under('context') },
    ...{ tenant: under('tenant'), time: under('time'), graph: under('graph'), consents: under('consents') },
    ...{ invitation: under('invitation'), dataSubjects: stated !== undefined },
  };
  const persons = stated === undefined ? {} : { dataSubjects: stated };
  const records = {
    subject: under('graph', 'subject'),
    resource: under('graph', 'resource'),
    subjectAttributes: beyondNames('subject'),
    resourceAttributes: beyondNames('resource'),
  };
  if (!Object.values(records).some(Boolean)) return { input, ...persons };
  return {
    input,
    ...persons,
    records: reads.all || reads.narrowing === undefined ? records : { ...records, uses: reads.narrowing },
  };
}
