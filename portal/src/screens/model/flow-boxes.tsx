/** The boxes of a drawing. They are drawn again only when they change: a drag changes none. */
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { memo } from 'react';
import { Icon } from '../../ui/icons.tsx';
import type { Box } from './flow-layout.ts';

export type BoxData = Box & { isNarrow: boolean; mayBegin: boolean; beginTitle: string };
export type BoxNode = Node<BoxData, 'box'>;

const sides = [
  ['left', Position.Left],
  ['right', Position.Right],
  ['top', Position.Top],
  ['bottom', Position.Bottom],
] as const;

export const Boxed = memo(function Boxed({ data, isConnectable }: NodeProps<BoxNode>) {
  const { title, detail, look, owner, isNarrow, mayBegin, beginTitle } = data;
  return (
    <>
      {/* It covers the box: what is dragged is let go anywhere on it. */}
      <Handle
        type="target"
        id="in"
        className="whole"
        position={isNarrow ? Position.Top : Position.Left}
        isConnectableStart={false}
        isConnectable={isConnectable && look === 'type'}
      />
      {look === 'bracket' ? (
        <span>{title}</span>
      ) : (
        <strong>
          {title} {owner !== undefined && <Icon name="lock" size={12} />}
        </strong>
      )}
      {detail !== undefined && <span>{detail}</span>}
      {(look === 'relation' || look === 'bracket') &&
        sides.map(([id, position]) => (
          <Handle key={id} type="source" id={id} className="side" position={position} isConnectable={false} />
        ))}
      <Handle
        type="source"
        id="out"
        className={mayBegin ? 'begin' : 'side'}
        position={isNarrow ? Position.Bottom : Position.Right}
        isConnectable={mayBegin}
        isConnectableEnd={false}
        {...(mayBegin && { title: beginTitle })}
      />
    </>
  );
});

export const nodeTypes = { box: Boxed };
