/** Where the editor of drawn policies stands. It is loaded when a drawn policy is opened. */
import { lazy, Suspense } from 'react';
import type { Mark } from './marking.ts';

export type GraphProps = {
  graph: unknown;
  onChange: (graph: unknown) => void;
  readOnly: boolean;
  problems: readonly { pointer: string; detail: string; node?: string }[];
  /** The ids of the nodes that the last question went through. */
  path?: string[];
  /** The node that is marked, and what marked it: the focus may go there. */
  marked: string | undefined;
  mark: Mark | undefined;
  /** A node was opened. */
  onMark: (node: string) => void;
};

const GraphEditor = lazy(() => import('./graph/editor.tsx'));

export const GraphSlot = (props: GraphProps) => (
  <Suspense fallback={<span className="skeleton" />}>
    <GraphEditor {...props} />
  </Suspense>
);
