/** An export that is saved as a file: how much has arrived, how to cancel it, and what went wrong. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { download } from '../core/download.ts';
import { Notice } from './page.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import { Progress } from './progress.tsx';
import { useUiTexts } from './texts.ts';
import { toast } from './toasts.tsx';

type Asked = {
  path: string;
  name: string;
  /** How many items there are, where that is known cheaply. Without it the export goes on. */
  total?: () => Promise<number | undefined>;
};
type State =
  | { done: number; total?: number }
  | { error: unknown; file: string }
  | { cancelledAfter: number }
  | { saved: string };

const shownEveryMs = 200;

/** @returns `start`, and what is to be shown of it */
export function useExport(): {
  start: (asked: Asked) => Promise<void>;
  isBusy: boolean;
  shown: ReactNode;
} {
  const texts = useUiTexts();
  const [state, setState] = useState<State>();
  const stop = useRef<AbortController>(undefined);
  const hasLeft = useRef(false);
  useEffect(() => {
    hasLeft.current = false;
    return () => {
      hasLeft.current = true;
    };
  }, []);
  const start = async ({ path, name, total: count }: Asked) => {
    const abort = new AbortController();
    stop.current = abort;
    let arrived = 0;
    let shownAt = 0;
    setState({ done: 0 });
    try {
      const total = await count?.().catch(() => undefined);
      const of = total === undefined ? {} : { total };
      if (!abort.signal.aborted) setState({ ...of, done: 0 });
      const onItems = (done: number) => {
        arrived = done;
        if (performance.now() - shownAt < shownEveryMs) return;
        shownAt = performance.now();
        setState({ ...of, done });
      };
      await download(path, name, abort.signal, onItems);
      setState({ saved: texts.exported(name, arrived) });
      // It goes on when somebody leaves the page, and is told wherever that person is.
      if (hasLeft.current) toast({ text: texts.exported(name, arrived) });
    } catch (error) {
      setState(abort.signal.aborted ? { cancelledAfter: arrived } : { error, file: name });
      if (hasLeft.current) toast({ text: texts.exportFailed(name) });
    }
  };
  return {
    start,
    isBusy: state !== undefined && 'done' in state,
    shown: shownOf(state, texts, () => stop.current?.abort()),
  };
}

function shownOf(state: State | undefined, texts: ReturnType<typeof useUiTexts>, onCancel: () => void): ReactNode {
  if (state === undefined) return null;
  if ('done' in state) return <Progress label={texts.exporting} {...state} onCancel={onCancel} />;
  if ('error' in state)
    return (
      <>
        <ProblemAlert error={state.error} />
        <p>{texts.exportFailed(state.file)}</p>
      </>
    );
  return (
    <div role="status">
      <Notice>
        <p>{'saved' in state ? state.saved : texts.exportCancelled(state.cancelledAfter)}</p>
      </Notice>
    </div>
  );
}
