/** Owns how the state of a manifest is told to a person. */
import type { StatusChange } from '../operator/index.ts';

/** Kind, name, state, and what is to be done about it. */
export function rowOf({ target, status }: StatusChange): string[] {
  const name = target.namespace ? `${target.namespace}/${target.name}` : target.name;
  if (status === undefined) return [target.kind, name, 'Deleted', ''];
  const ready = status.conditions?.find((condition) => condition.type === 'Ready');
  if (ready?.status === 'True') return [target.kind, name, 'Ready', ''];
  return [target.kind, name, ready?.reason ?? 'Waiting', ready?.message ?? ''];
}

/** Prints a line for each change, once `isReporting` says so. */
export function reportChanges(isReporting: () => boolean): (change: StatusChange) => void {
  return (change) => {
    if (isReporting()) console.log(rowOf(change).filter(Boolean).join('  '));
  };
}
