/** The lines of a bracket: out of a relationship across the way that it leads, and then along it to the words. */
import { BaseEdge, type EdgeProps, Position } from '@xyflow/react';
import { memo } from 'react';

const isAcross = (side: Position) => side === Position.Top || side === Position.Bottom;

const Elbow = memo(function Elbow(props: EdgeProps) {
  const { id, sourceX, sourceY, targetX, targetY, sourcePosition } = props;
  const path = isAcross(sourcePosition)
    ? `M${sourceX} ${sourceY}V${targetY}H${targetX}`
    : `M${sourceX} ${sourceY}H${targetX}V${targetY}`;
  return <BaseEdge id={id} path={path} />;
});

export const edgeTypes = { elbow: Elbow };
