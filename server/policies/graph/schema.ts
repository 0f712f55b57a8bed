/** The shape of a drawn policy lives with the custom resources, whose schema it is part of; this room re-exports it. */
export { type Condition, type GraphEdge, type GraphNode, GraphSchema, type PolicyGraph } from '../../../crds/graph.ts';
