/** The drawing: React Flow over the graph, which stays the only truth; what is dragged is written into it when it is let go. */
import {
  applyNodeChanges,
  type Connection,
  type Edge,
  MarkerType,
  type NodeChange,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useNodesInitialized,
  useReactFlow,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Icon } from '../../../ui/icons.tsx';
import { edgeTypes, nodeTypes } from './cards.tsx';
import { mayConnect, type Places } from './change.ts';
import { useActions } from './context.ts';
import { type Drawn, type FlowNode, flowEdges, flowNodes, placesOfNodes, wayOfConnection } from './flow.ts';
import type { Way } from './model.ts';

type Props = {
  drawn: Drawn;
  onPlace: (places: Places) => void;
  onConnect: (way: Way, to: string) => void;
};

const markers = { markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18, color: 'var(--line-strong)' } };
const view = { maxZoom: 1, minZoom: 0.35, padding: 0.06 };

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
      {...{ nodes, edges, nodeTypes, edgeTypes, defaultEdgeOptions: markers }}
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
      <View count={graph.nodes.length} />
    </ReactFlow>
  );
}

/** The buttons that zoom; all is shown again when a node comes or goes. */
function View({ count }: { count: number }) {
  const { t } = useActions();
  const flow = useReactFlow();
  const isReady = useNodesInitialized();
  const shown = useRef(count);
  useEffect(() => {
    if (!isReady || shown.current === count) return;
    shown.current = count;
    void flow.fitView(view);
  }, [isReady, count, flow]);
  const buttons = [
    [t.zoomIn, '+', () => void flow.zoomIn()],
    [t.zoomOut, '−', () => void flow.zoomOut()],
  ] as const;
  return (
    <Panel position="top-right" className="graph-view">
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
