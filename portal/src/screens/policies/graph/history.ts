/** What was before and after, for undo and redo. */
export type History<T> = {
  readonly past: readonly T[];
  readonly present: T;
  readonly future: readonly T[];
  /** What the last step changed: typing in one field is one step. */
  readonly key?: string | undefined;
};

const stepsMax = 200;

export const startHistory = <T>(present: T): History<T> => ({ past: [], present, future: [] });

/** @param key of a change that goes on, such as typing in a field: steps with the same key become one */
export function step<T>({ past, present, key: before }: History<T>, next: T, key?: string): History<T> {
  const isSame = key !== undefined && key === before;
  return { past: isSame ? past : [...past, present].slice(-stepsMax), present: next, future: [], key };
}

export function undo<T>(history: History<T>): History<T> {
  const { past, present, future } = history;
  const before = past.at(-1);
  return before === undefined ? history : { past: past.slice(0, -1), present: before, future: [present, ...future] };
}

export function redo<T>(history: History<T>): History<T> {
  const { past, present, future } = history;
  const [next, ...rest] = future;
  return next === undefined ? history : { past: [...past, present], present: next, future: rest };
}
