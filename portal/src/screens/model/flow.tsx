/** A drawing of boxes and lines that can be moved, zoomed and walked through by keyboard: React Flow, laid out by dagre. */
import {
  Background,
  type Connection,
  ConnectionMode,
  Controls,
  type Edge,
  MarkerType,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import '@xyflow/react/dist/base.css';
import { type BoxNode, nodeTypes } from './flow-boxes.tsx';
import {
  type Box,
  heightOf,
  heightOfAll,
  type Line,
  laidOut,
  type Places,
  type Rects,
  rectsOf,
  sidesOf,
  widthOf,
} from './flow-layout.ts';
import { edgeTypes } from './flow-lines.tsx';
import { texts } from './texts.ts';
import './flow.css';

/** What can be done to the drawing itself. */
export type Editing = {
  /** The boxes that are chosen, and those that can be chosen next; the others are dimmed where there are any. */
  chosen: ReadonlySet<string>;
  possible: ReadonlySet<string> | undefined;
  onConnect: (from: string, to: string) => void;
  /** A key that does something to the box that has the focus; whether it did. */
  onKey: (key: string, id: string) => boolean;
  keys: string;
};
type Props = {
  label: string;
  boxes: readonly Box[];
  lines: readonly Line[];
  selected?: string;
  /** `isMore`: with Shift or Control, beside what is chosen. */
  onOpen: (id: string, isMore: boolean) => void;
  editing?: Editing;
  children?: ReactNode;
};

const fitted = { maxZoom: 1.1, padding: 0.06 };

type Drawn = Pick<Props, 'boxes' | 'selected' | 'editing'> & { places: Places; isNarrow: boolean };

function classOf({ id, look }: Box, { selected, editing }: Drawn): string {
  const isDimmed = editing?.possible !== undefined && !editing.possible.has(id) && !editing.chosen.has(id);
  return [
    ...['flow-box', look, id === selected && 'on', editing?.chosen.has(id) && 'chosen'],
    ...[editing?.possible?.has(id) && 'possible', isDimmed && 'dimmed'],
  ]
    .filter(Boolean)
    .join(' ');
}

function useNodes(drawn: Drawn): BoxNode[] {
  const t = useTexts(texts);
  const { boxes, places, isNarrow, selected, editing } = drawn;
  const { chosen, possible } = editing ?? {};
  const isEdited = editing !== undefined;
  // What the boxes say stays the same object, so that they are not drawn again.
  const data = useMemo(
    () =>
      new Map(
        boxes.map((box) => {
          // A finger scrolls: there a button begins it.
          const mayBegin = isEdited && box.look === 'type' && !isNarrow;
          return [box.id, { ...box, isNarrow, mayBegin, beginTitle: t.dragFrom(box.title) }];
        }),
      ),
    [boxes, isNarrow, isEdited, t],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: what of `drawn` matters
  return useMemo(
    () =>
      boxes.flatMap((box): BoxNode[] => {
        const of = data.get(box.id);
        if (of === undefined) return [];
        return [
          {
            id: box.id,
            type: 'box',
            data: of,
            position: places.get(box.id) ?? { x: 0, y: 0 },
            style: { width: widthOf(box), minHeight: heightOf(box) },
            className: classOf(box, drawn),
            ariaLabel: [box.title, box.detail, box.owner && t.managed(box.owner)].filter(Boolean).join(', '),
            ariaRole: 'button',
          },
        ];
      }),
    [boxes, data, places, selected, chosen, possible, t],
  );
}

function edgeOf(line: Line, rects: Rects, isNarrow: boolean): Edge {
  const { from, to, label: text, look } = line;
  const sides = look && sidesOf(line, rects, isNarrow);
  const isBracket = look === 'begins' || look === 'ends';
  const color = look === 'heir' ? 'var(--series-4)' : 'var(--dim)';
  return {
    ...{ id: `${from} ${text ?? ''} ${to} ${look ?? ''}`, source: from, target: to, label: text, className: look },
    ...{ sourceHandle: sides?.source ?? 'out', targetHandle: sides?.target ?? 'in' },
    ...(isBracket && { type: 'elbow' }),
    ...(look === 'heir' && { type: 'straight' }),
    ...(!isBracket && { markerEnd: { type: MarkerType.ArrowClosed, color } }),
  };
}

export function Flow({ label, boxes, lines, selected, onOpen, editing, children }: Props) {
  const t = useTexts(texts);
  const frame = useRef<HTMLElement>(null);
  const shown = useRef<ReactFlowInstance<BoxNode>>(undefined);
  const [isNarrow] = useState(() => matchMedia('(max-width: 600px)').matches);
  const places = useMemo(() => laidOut(boxes, lines, isNarrow), [boxes, lines, isNarrow]);
  useEffect(() => {
    // A panel that opens beside it leaves less room.
    const watch = new ResizeObserver(() => void shown.current?.fitView(fitted));
    if (frame.current) watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  const nodes = useNodes({ boxes, selected, editing, places, isNarrow });
  const edges = useMemo(() => {
    const rects = rectsOf(boxes, places);
    return lines.map((line) => edgeOf(line, rects, isNarrow));
  }, [lines, boxes, places, isNarrow]);
  const onConnect = editing?.onConnect;
  const join = useCallback(({ source, target }: Connection) => onConnect?.(source, target), [onConnect]);
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const { key, shiftKey, ctrlKey, metaKey, target } = event;
    const id = (target as Element).closest('.react-flow__node')?.getAttribute('data-id');
    if (id == null) return;
    if (key === 'Enter' || key === ' ') onOpen(id, shiftKey || ctrlKey || metaKey);
    else if (ctrlKey || metaKey || editing?.onKey(key, id) !== true) return;
    event.preventDefault();
  };
  return (
    <section
      ref={frame}
      className={`flow${editing?.possible ? ' choosing' : ''}`}
      aria-label={label}
      style={{ height: heightOfAll(boxes, places) }}
      onKeyDown={press}
    >
      <ReactFlow
        // Other boxes are another drawing, which is fitted into the frame again.
        key={boxes.map(({ id }) => id).join()}
        {...{ nodes, edges, nodeTypes, edgeTypes }}
        fitView
        fitViewOptions={fitted}
        onInit={(instance) => {
          shown.current = instance;
        }}
        minZoom={0.1}
        nodesConnectable={editing !== undefined}
        connectionMode={ConnectionMode.Loose}
        onConnect={join}
        {...{ nodesDraggable: false, elementsSelectable: false, edgesFocusable: false, deleteKeyCode: null }}
        {...{ zoomOnScroll: false, zoomOnDoubleClick: false, preventScrolling: false }}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(event, { id }) => onOpen(id, event.shiftKey || event.ctrlKey || event.metaKey)}
        ariaLabelConfig={{
          'node.a11yDescription.default': editing?.keys ?? t.nodeKeys,
          'node.a11yDescription.keyboardDisabled': editing?.keys ?? t.nodeKeys,
          'controls.ariaLabel': t.controls,
          'controls.zoomIn.ariaLabel': t.zoomIn,
          'controls.zoomOut.ariaLabel': t.zoomOut,
          'controls.fitView.ariaLabel': t.fit,
        }}
      >
        <Background />
        <Controls position="bottom-right" showInteractive={false} />
        {children}
      </ReactFlow>
    </section>
  );
}
