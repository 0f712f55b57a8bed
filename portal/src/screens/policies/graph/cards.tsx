/** The cards and edges of the drawing. They are drawn again only when they change: a drag moves one of many. */
import {
  BaseEdge,
  EdgeLabelRenderer,
  type EdgeProps,
  getSmoothStepPath,
  Handle,
  type NodeProps,
  Position,
} from '@xyflow/react';
import { memo } from 'react';
import { Icon } from '../../../ui/icons.tsx';
import { useActions } from './context.ts';
import type { CardNode, OpenNode, WayEdge } from './flow.ts';
import type { Problem } from './model.ts';
import { wayWord } from './sentences.ts';

type CardProps = NodeProps<CardNode>;

const Problems = ({ problems }: { problems: readonly Problem[] }) => (
  <ul className="graph-problems">
    {problems.map(({ pointer, detail }) => (
      <li key={pointer + detail}>
        <Icon name="error" size={14} /> {detail}
      </li>
    ))}
  </ul>
);

/** The words of a card open its form. All of this is in the outline too, which is what the keyboard walks through. */
function Words({ id, data: { node, lines, problems, isTaken } }: CardProps) {
  const { open, t } = useActions();
  const [first, ...rest] = lines;
  const sign = node.type === 'outcome' ? (node.outcome === 'allow' ? 'allow' : 'deny') : undefined;
  return (
    <>
      <button type="button" className="plain" tabIndex={-1} onClick={() => open(id)}>
        <span className={rest.length > 0 || node.type !== 'condition' ? 'graph-first' : undefined}>
          {sign && <Icon name={sign} />} {first}
          {isTaken && <span className="graph-taken">{t.taken}</span>}
        </span>
        {rest.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be the same
          <span key={index} className="graph-line">
            {line}
          </span>
        ))}
      </button>
      {problems.length > 0 && <Problems problems={problems} />}
    </>
  );
}

const classOf = ({ data: { node, problems, isTaken, isMarked }, selected }: CardProps) =>
  [
    ...['graph-card', node.type, node.outcome ?? ''],
    ...[problems.length > 0 && 'wrong', isTaken && 'taken', isMarked && 'marked', selected && 'open'],
  ]
    .filter(Boolean)
    .join(' ');

const Card = memo(function Card(props: CardProps) {
  const { t } = useActions();
  const { type } = props.data.node;
  return (
    <div className={classOf(props)}>
      {type !== 'start' && <Handle type="target" position={Position.Top} />}
      <Words {...props} />
      {type === 'start' && <Handle type="source" position={Position.Bottom} />}
      {type === 'condition' && (
        <>
          <Handle type="source" position={Position.Bottom} id="true" className="yes" title={t.yes} />
          <Handle type="source" position={Position.Bottom} id="false" className="no" title={t.no} />
        </>
      )}
    </div>
  );
});

const Open = memo(function Open({ data: { way } }: NodeProps<OpenNode>) {
  const { t, add, readOnly } = useActions();
  const word = wayWord(way.on, t);
  return (
    <div className="graph-open">
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <span>{t.leadsNowhere}</span>
      {!readOnly && (
        <span className="row nodrag">
          <button
            {...{ type: 'button', tabIndex: -1, title: t.addQuestionAt(word, way.from) }}
            aria-label={t.addQuestionAt(word, way.from)}
            onClick={() => add(way, 'condition')}
          >
            <Icon name="plus" size={14} />
          </button>
          {(['allow', 'deny'] as const).map((outcome) => (
            <button
              key={outcome}
              {...{ type: 'button', tabIndex: -1, title: t.addOutcomeAt(t[outcome], word, way.from) }}
              aria-label={t.addOutcomeAt(t[outcome], word, way.from)}
              onClick={() => add(way, outcome)}
            >
              <Icon name={outcome} size={14} />
            </button>
          ))}
        </span>
      )}
    </div>
  );
});

const WayLine = memo(function WayLine(props: EdgeProps<WayEdge>) {
  const { sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data } = props;
  const { t, add, readOnly } = useActions();
  const [path] = getSmoothStepPath({
    ...{ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, borderRadius: 10 },
    // Where it bends: near its question, so that the words stand on its own part.
    centerY: sourceY + Math.min(46, Math.max(24, (targetY - sourceY) / 2)),
  });
  if (data === undefined) return null;
  const { way, isOpen, isTaken } = data;
  const word = wayWord(way.on, t);
  const name = t.addQuestionAt(word, way.from);
  return (
    <>
      <BaseEdge
        id={props.id}
        path={path}
        className={['graph-way', isOpen && 'open', isTaken && 'taken'].filter(Boolean).join(' ')}
        {...(props.markerEnd && { markerEnd: props.markerEnd })}
      />
      <EdgeLabelRenderer>
        <span
          className="graph-way-words nodrag nopan"
          style={{ transform: `translate(-50%, 0) translate(${sourceX}px, ${sourceY + 6}px)` }}
        >
          {word !== '' && <b className={way.on === 'true' ? 'yes' : 'no'}>{word}</b>}
          {!isOpen && !readOnly && (
            <button type="button" tabIndex={-1} aria-label={name} title={name} onClick={() => add(way, 'condition')}>
              <Icon name="plus" size={14} />
            </button>
          )}
        </span>
      </EdgeLabelRenderer>
    </>
  );
});

export const nodeTypes = { start: Card, condition: Card, outcome: Card, open: Open };
export const edgeTypes = { way: WayLine };
