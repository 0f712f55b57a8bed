/** The graph that is edited, with undo and redo. What comes from elsewhere, such as a draft that is given up, is a step too. */
import { useCallback, useMemo, useRef, useState } from 'react';
import { type History, redo, startHistory, step, undo } from './history.ts';
import { isSameGraph, type PolicyGraph, readGraph } from './model.ts';

export function useGraph(value: unknown, onChange: (graph: unknown) => void) {
  const [, draw] = useState(0);
  const history = useRef<History<PolicyGraph>>(undefined);
  const told = useRef<unknown>(undefined);
  history.current ??= startHistory(readGraph(value));
  // The page gives back what it was told, or something else: that is a step.
  if (value !== told.current) {
    const given = readGraph(value);
    history.current = isSameGraph(given, history.current.present)
      ? { ...history.current, present: given }
      : step(history.current, given);
    told.current = value;
  }
  const tell = useRef(onChange);
  tell.current = onChange;
  const go = useCallback((next: History<PolicyGraph>) => {
    if (history.current === next) return;
    history.current = next;
    draw((count) => count + 1);
    tell.current(next.present);
  }, []);
  const actions = useMemo(() => {
    const now = () => history.current as History<PolicyGraph>;
    return {
      now: () => now().present,
      change: (next: PolicyGraph, key?: string) => next !== now().present && go(step(now(), next, key)),
      undo: () => go(undo(now())),
      redo: () => go(redo(now())),
    };
  }, [go]);
  const { past, present, future } = history.current;
  return { graph: present, mayUndo: past.length > 0, mayRedo: future.length > 0, ...actions };
}
