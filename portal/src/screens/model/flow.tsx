/** A drawing of boxes and lines that can be moved, zoomed and walked through by keyboard: React Flow, laid out by dagre. */
import dagre from '@dagrejs/dagre';
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import '@xyflow/react/dist/base.css';
import { texts } from './texts.ts';
import './flow.css';

export type Box = {
  id: string;
  title: string;
  /** What stands below the title. */
  detail?: string;
  look: 'type' | 'relation' | 'centre';
};
export type Line = { from: string; to: string; label?: string; look?: 'inherits' };
type Props = {
  label: string;
  boxes: readonly Box[];
  lines: readonly Line[];
  selected?: string;
  onOpen: (id: string) => void;
};

const widthOf = ({ title, detail = '' }: Box) =>
  Math.min(240, 44 + Math.max(title.length * 7.6, Math.min(detail.length, 30) * 6.3));
const heightOf = ({ detail, look }: Box) =>
  (look === 'relation' ? 32 : 40) + (detail === undefined ? 0 : Math.ceil(detail.length / 30) * 17);

function laidOut(
  boxes: readonly Box[],
  lines: readonly Line[],
  isNarrow: boolean,
): Map<string, { x: number; y: number }> {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: isNarrow ? 'TB' : 'LR',
    nodesep: 22,
    ranksep: isNarrow ? 34 : 56,
    marginx: 12,
    marginy: 12,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) graph.setNode(box.id, { width: widthOf(box), height: heightOf(box) });
  // An edge of dagre without a name of its own is one with the next between the same boxes.
  for (const [index, { from, to, look, label = '' }] of lines.entries())
    if (look !== 'inherits') graph.setEdge(from, to, { width: label.length * 6.5, height: 14 }, `e${index}`);
  dagre.layout(graph);
  return new Map(
    boxes.map((box) => {
      const { x, y, width, height } = graph.node(box.id);
      return [box.id, { x: x - width / 2, y: y - height / 2 }];
    }),
  );
}

/** As high as what is drawn, within what a window shows. */
function heightOfAll(boxes: readonly Box[], places: ReadonlyMap<string, { y: number }>): string {
  const bottom = Math.max(0, ...boxes.map((box) => (places.get(box.id)?.y ?? 0) + heightOf(box)));
  return `clamp(220px, ${Math.round(bottom * 1.1) + 48}px, 68vh)`;
}

const BoxNode = memo(({ data }: { data: Record<string, unknown> }) => {
  const { title, detail, isNarrow } = data as unknown as Box & { isNarrow: boolean };
  return (
    <>
      <Handle type="target" position={isNarrow ? Position.Top : Position.Left} isConnectable={false} />
      <strong>{title}</strong>
      {detail !== undefined && <span>{detail}</span>}
      <Handle type="source" position={isNarrow ? Position.Bottom : Position.Right} isConnectable={false} />
    </>
  );
});
const nodeTypes = { box: BoxNode };
const fitted = { maxZoom: 1.1, padding: 0.06 };

export function Flow({ label, boxes, lines, selected, onOpen }: Props) {
  const t = useTexts(texts);
  const frame = useRef<HTMLElement>(null);
  const drawn = useRef<ReactFlowInstance>(undefined);
  const [isNarrow] = useState(() => matchMedia('(max-width: 600px)').matches);
  const places = useMemo(() => laidOut(boxes, lines, isNarrow), [boxes, lines, isNarrow]);
  useEffect(() => {
    // A panel that opens beside it leaves less room.
    const watch = new ResizeObserver(() => void drawn.current?.fitView(fitted));
    if (frame.current) watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  const nodes = boxes.map(
    (box): Node => ({
      id: box.id,
      type: 'box',
      data: { ...box, isNarrow },
      position: places.get(box.id) ?? { x: 0, y: 0 },
      style: { width: widthOf(box), minHeight: heightOf(box) },
      className: `flow-box ${box.look} ${box.id === selected ? 'on' : ''}`,
      ariaLabel: [box.title, box.detail].filter(Boolean).join(', '),
      ariaRole: 'button',
      connectable: false,
      deletable: false,
    }),
  );
  const edges = lines.map(
    ({ from, to, label: text, look }): Edge => ({
      id: `${from} ${text ?? ''} ${to} ${look ?? ''}`,
      source: from,
      target: to,
      label: text,
      className: look,
      focusable: false,
      selectable: false,
      deletable: false,
      ...(look === 'inherits'
        ? { type: 'straight' }
        : { markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--dim)' } }),
    }),
  );
  return (
    <section ref={frame} className="flow" aria-label={label} style={{ height: heightOfAll(boxes, places) }}>
      <ReactFlow
        // Other boxes are another drawing, which is fitted into the frame again.
        key={boxes.map(({ id }) => id).join()}
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        fitView
        fitViewOptions={fitted}
        onInit={(instance) => {
          drawn.current = instance;
        }}
        minZoom={0.1}
        nodesConnectable={false}
        nodesDraggable={false}
        edgesFocusable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, { id }) => onOpen(id)}
        onNodesChange={(changes) => {
          for (const one of changes) if (one.type === 'select' && one.selected) onOpen(one.id);
        }}
        ariaLabelConfig={{
          'node.a11yDescription.default': t.nodeKeys,
          'node.a11yDescription.keyboardDisabled': t.nodeKeys,
          'controls.ariaLabel': t.controls,
          'controls.zoomIn.ariaLabel': t.zoomIn,
          'controls.zoomOut.ariaLabel': t.zoomOut,
          'controls.fitView.ariaLabel': t.fit,
        }}
      >
        <Background />
        <Controls position="bottom-right" showInteractive={false} />
      </ReactFlow>
    </section>
  );
}
