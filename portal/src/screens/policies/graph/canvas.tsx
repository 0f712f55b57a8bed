/** The drawing: React Flow over the graph, which stays the only truth; what is dragged is written into it when it is let go. */
import {
  applyNodeChanges,
  type Connection,
  type Edge,
  type NodeChange,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useNodesInitialized,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Icon } from '../../../ui/icons.tsx';
import { edgeTypes, nodeTypes } from './cards.tsx';
import { mayConnect, type Places } from './change.ts';
import { useActions } from './context.ts';
import { type Drawn, type FlowNode, flowEdges, flowNodes, placesOfNodes, wayOfConnection } from './flow.ts';
import { cardWidth } from './layout.ts';
import { startOf, type Way } from './model.ts';

type Props = {
  drawn: Drawn;
  onPlace: (places: Places) => void;
  onConnect: (way: Way, to: string) => void;
};

// Below this zoom words cannot be read.
const view = { maxZoom: 1, minZoom: 0.5, padding: 0.04 };

function Drawing({ drawn, onPlace, onConnect }: Props) {
  const { readOnly, t } = useActions();
  const { graph, path } = drawn;
  const [nodes, setNodes] = useState(() => flowNodes(drawn, []));
  const latest = useRef(nodes);
  latest.current = nodes;
  useEffect(() => setNodes((before) => flowNodes(drawn, before)), [drawn]);
  const edges = useMemo(() => flowEdges(graph, path), [graph, path]);
  const change = useCallback(
    (changes: NodeChange<FlowNode>[]) => setNodes((before) => applyNodeChanges(changes, before)),
    [],
  );
  const mayJoin = useCallback(
    ({ source, sourceHandle, target }: Edge | Connection) =>
      mayConnect(graph, wayOfConnection(source, sourceHandle), target),
    [graph],
  );
  const join = useCallback(
    ({ source, sourceHandle, target }: Connection) => onConnect(wayOfConnection(source, sourceHandle), target),
    [onConnect],
  );
  const place = useCallback(() => onPlace(placesOfNodes(latest.current)), [onPlace]);
  return (
    <ReactFlow<FlowNode, ReturnType<typeof flowEdges>[number]>
      {...{ nodes, edges, nodeTypes, edgeTypes }}
      aria-label={t.drawing}
      onNodesChange={change}
      onNodeDragStop={place}
      onConnect={join}
      isValidConnection={mayJoin}
      nodesDraggable={!readOnly}
      nodesConnectable={!readOnly}
      // The outline is what the keyboard and screen readers use.
      {...{ nodesFocusable: false, edgesFocusable: false, elementsSelectable: false, disableKeyboardA11y: true }}
      {...{ zoomOnScroll: false, preventScrolling: false, zoomOnDoubleClick: false, deleteKeyCode: null }}
      {...{ minZoom: 0.15, maxZoom: 1.5, fitView: true, fitViewOptions: view }}
      proOptions={{ hideAttribution: true }}
    >
      <View {...{ count: graph.nodes.length, open: drawn.open, marked: drawn.marked, start: startOf(graph)?.id }} />
    </ReactFlow>
  );
}

type ViewProps = Record<'open' | 'marked' | 'start', string | undefined> & { count: number };

/** The buttons that zoom. When a node comes or goes, or the form takes its place, all is shown again, or the open node where all would be too small. */
function View({ count, open, marked, start }: ViewProps) {
  const { t } = useActions();
  const flow = useReactFlow();
  const isReady = useNodesInitialized();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const shown = useRef({ open, start });
  shown.current = { open, start };
  // biome-ignore lint/correctness/useExhaustiveDependencies: when there is another number of nodes or another width
  useEffect(() => {
    if (!isReady) return;
    const all = flow.getNodesBounds(flow.getNodes());
    if (Math.min(width / all.width, height / all.height) > view.minZoom) return void flow.fitView(view);
    const node = flow.getNode(shown.current.open ?? shown.current.start ?? '');
    if (node === undefined) return;
    const { x, y } = node.position;
    const middle = shown.current.open === undefined ? height / 2 / view.minZoom - 30 : 60;
    void flow.setCenter(x + cardWidth / 2, y + middle, { zoom: Math.max(view.minZoom, flow.getZoom()) });
  }, [isReady, count, width, flow]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another node is marked
  useEffect(() => {
    const node = isReady ? flow.getNode(marked ?? '') : undefined;
    if (node === undefined) return;
    const at = flow.getViewport();
    const [left, top] = [node.position.x * at.zoom + at.x, node.position.y * at.zoom + at.y];
    const isSeen = left >= 0 && top >= 0 && left + cardWidth * at.zoom <= width && top + 40 * at.zoom <= height;
    if (!isSeen) void flow.setCenter(node.position.x + cardWidth / 2, node.position.y + 40, { zoom: at.zoom });
  }, [isReady, marked]);
  const buttons = [
    [t.zoomIn, '+', () => void flow.zoomIn()],
    [t.zoomOut, '−', () => void flow.zoomOut()],
  ] as const;
  return (
    <Panel position="bottom-right" className="graph-view">
      {buttons.map(([label, sign, act]) => (
        <button key={label} type="button" aria-label={label} title={label} onClick={act}>
          {sign}
        </button>
      ))}
      <button type="button" aria-label={t.fit} title={t.fit} onClick={() => void flow.fitView(view)}>
        <Icon name="search" size={14} />
      </button>
    </Panel>
  );
}

export const Canvas = (props: Props) => (
  <ReactFlowProvider>
    <Drawing {...props} />
  </ReactFlowProvider>
);
