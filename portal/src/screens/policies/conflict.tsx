/** Somebody else saved since this draft was begun: theirs and mine beside each other. Nothing is lost before the person decides. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { Difference } from '../../editor/difference.tsx';
import { Notice, RelativeTime } from '../../ui/index.ts';
import { type Draft, draftOf, type PolicyView } from './shapes.ts';
import { texts } from './texts.ts';

type Props = {
  /** undefined: it was removed. */
  theirs: PolicyView | undefined;
  mine: Draft;
  onKeep: (draft: Draft) => void;
  onDrop: () => void;
};

const textOf = ({ rego, graph }: Draft) => rego ?? JSON.stringify(graph, null, 2);

/** Cases of both; of those with one name, mine. */
const casesOf = (theirs: Draft | undefined, mine: Draft) => [
  ...(theirs?.tests ?? []).filter(({ name }) => mine.tests.every((one) => one.name !== name)),
  ...mine.tests,
];

export function Conflict({ theirs, mine, onKeep, onDrop }: Props) {
  const t = useTexts(texts);
  const [text, setText] = useState(() => textOf(mine));
  const [wrong, setWrong] = useState<string>();
  const stored = theirs && draftOf(theirs);
  const keep = () => {
    const tests = casesOf(stored, mine);
    if (mine.rego !== undefined) return onKeep({ ...mine, rego: text, tests });
    try {
      onKeep({ ...mine, graph: JSON.parse(text), tests });
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section className="stack" aria-label={t.conflict}>
      <Notice tone="warn">
        <strong>{t.conflict}</strong>
        <p>
          {theirs ? t.conflictBy(theirs.updatedBy, theirs.revision) : t.conflictRemoved}{' '}
          {theirs && <RelativeTime at={theirs.updatedAt} />}
        </p>
        <p>{t.conflictWhy}</p>
      </Notice>
      <Difference
        before={{ label: t.theirs, text: stored ? textOf(stored) : '' }}
        after={{ label: t.mine, text: textOf(mine) }}
        onChange={setText}
      />
      {wrong !== undefined && (
        <p className="policy-wrong" role="alert">
          {t.noJson(wrong)}
        </p>
      )}
      <div className="row">
        <Button onClick={keep}>{t.goOnWithMine}</Button>
        <Button variant="default" onClick={onDrop}>
          {t.takeTheirs}
        </Button>
      </div>
    </section>
  );
}
