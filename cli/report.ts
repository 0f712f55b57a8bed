import type { ResourceStatus, SourceProblem, StatusChange } from '../operator/index.ts';

/** Kind, name, state, and what is to be done about it. */
export function rowOf({ target, status }: StatusChange): string[] {
  const name = target.namespace ? `${target.namespace}/${target.name}` : target.name;
  if (status === undefined) return [target.kind, name, 'Deleted', ''];
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const held = condition('DeletionHeld');
  if (held?.status === 'True') return [target.kind, name, held.type, held.message];
  const ready = condition('Ready');
  if (ready?.status === 'True') return [target.kind, name, 'Ready', concernOf(status)];
  return [target.kind, name, ready?.reason ?? 'Waiting', ready?.message ?? ''];
}

const concerns = ['KeysAvailable', 'InvitationsDelivered', 'MemberAccess'];

/** What is wrong beside what is Ready: the log of `accord start` shows errors only. */
function concernOf({ conditions = [] }: ResourceStatus): string {
  const concern = conditions.find(({ type, status }) => concerns.includes(type) && status === 'False');
  return concern === undefined ? '' : `${concern.type}=False: ${concern.message.replaceAll('\n', ' ')}`;
}

/** Prints a line for each change, once `isReporting` says so. */
export function reportChanges(isReporting: () => boolean): (change: StatusChange) => void {
  return (change) => {
    if (isReporting()) console.log(rowOf(change).filter(Boolean).join('  '));
  };
}

export function describeProblem({ place, message }: SourceProblem): string {
  return `${place}: ${message}`;
}

/** Prints what is wrong with the source now and was not before, once `isReporting` says so. */
export function reportProblems(isReporting: () => boolean): (problems: readonly SourceProblem[]) => void {
  let known = new Set<string>();
  return (problems) => {
    const now = new Set(problems.map(describeProblem));
    const fresh = [...now].filter((one) => !known.has(one));
    const isMended = now.size === 0 && known.size > 0;
    known = now;
    if (!isReporting()) return;
    for (const one of fresh) console.log(one);
    if (fresh.length > 0 && problems.some(({ severity }) => severity === undefined))
      console.log('Until every manifest can be read, a missing manifest does not count as deleted.');
    if (isMended) console.log('Every manifest can be read again.');
  };
}
