/** The nodes as a list in reading order: the whole editor for the keyboard and for screen readers. */
import { memo } from 'react';
import { Icon, State } from '../../../ui/index.ts';
import { useActions } from './context.ts';
import type { Drawn } from './flow.ts';
import { type Row, rowsOf } from './rows.ts';
import { wayWord } from './sentences.ts';

type Props = Pick<Drawn, 'graph' | 'problems' | 'path' | 'open' | 'marked'>;

export const Outline = memo(function Outline({ graph, problems, path, open, marked }: Props) {
  const { t } = useActions();
  return (
    <nav className="graph-outline" aria-label={t.outline}>
      <ol>
        {rowsOf(graph).map((row) => (
          <OutlineRow
            key={row.key}
            {...{ row, isOpen: row.node !== undefined && row.node.id === open }}
            isMarked={row.node !== undefined && row.node.id === marked}
            wrong={row.node === undefined || row.isAgain ? 0 : (problems.get(row.node.id)?.length ?? 0)}
            isTaken={row.node !== undefined && path.includes(row.node.id)}
          />
        ))}
      </ol>
    </nav>
  );
});

type RowProps = { row: Row; wrong: number; isTaken: boolean; isOpen: boolean; isMarked: boolean };

function OutlineRow({ row: { way, node, depth, isAgain }, wrong, isTaken, isOpen, isMarked }: RowProps) {
  const { t, readOnly, add, open, summary } = useActions();
  const word = way ? wayWord(way.on, t) : '';
  return (
    // Deeper ones are indented no further: the words need the room.
    <li className={isMarked ? 'marked' : undefined} style={{ paddingLeft: Math.min(depth, 8) * 14 }}>
      {word !== '' && <b className={way?.on === 'true' ? 'yes' : 'no'}>{word}</b>}
      {node === undefined ? (
        <span className="dim grow">{t.denies}</span>
      ) : (
        <button
          {...{ type: 'button', className: 'plain grow', 'data-node': node.id }}
          aria-current={isOpen ? 'true' : undefined}
          onClick={() => open(node.id)}
        >
          {node.type === 'outcome' && <Icon name={node.outcome === 'allow' ? 'allow' : 'deny'} size={14} />}{' '}
          {summary(node)} {isAgain && <span className="dim">{t.seeAbove}</span>}
          {way === undefined && node.type !== 'start' && <span className="dim">({t.notReached})</span>}
        </button>
      )}
      {isTaken && !isAgain && <State tone="accent">{t.taken}</State>}
      {wrong > 0 && <State tone="bad">{t.problems(wrong)}</State>}
      {way && !readOnly && (
        <span className="graph-adds">
          <button
            {...{ type: 'button', title: t.addQuestionAt(word, way.from) }}
            aria-label={t.addQuestionAt(word, way.from)}
            onClick={() => add(way, 'condition')}
          >
            <Icon name="plus" size={14} />
          </button>
          {node === undefined &&
            (['allow', 'deny'] as const).map((outcome) => (
              <button
                key={outcome}
                {...{ type: 'button', title: t.addOutcomeAt(t[outcome], word, way.from) }}
                aria-label={t.addOutcomeAt(t[outcome], word, way.from)}
                onClick={() => add(way, outcome)}
              >
                <Icon name={outcome} size={14} />
              </button>
            ))}
        </span>
      )}
    </li>
  );
}
