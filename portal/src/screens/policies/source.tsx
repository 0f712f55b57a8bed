/** The source of a policy: Rego in an editor; of a drawn one the drawing, and the Rego that it becomes. */
import { TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { ApiProblem } from '../../core/problem.ts';
import { useTexts } from '../../core/texts.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import type { Vocabulary } from '../../editor/completion.ts';
import type { Reach } from '../../editor/marks.ts';
import { Notice, ProblemAlert } from '../../ui/index.ts';
import { GraphSlot } from './graph-slot.tsx';
import { linesOf } from './shapes.ts';
import { texts } from './texts.ts';
import type { Checked } from './use-check.ts';
import type { Editing } from './use-editing.ts';

type Props = {
  editing: Editing;
  checked: Checked;
  readOnly: boolean;
  line: number | undefined;
  vocabulary: Vocabulary;
};

export function Source({ editing, checked, readOnly, line, vocabulary }: Props) {
  const t = useTexts(texts);
  const { draft, base, change } = editing;
  const coverage = checked.tried?.coverage;
  const reach = useMemo(
    (): Reach | undefined =>
      coverage?.covered && {
        reached: linesOf(coverage.covered),
        missed: linesOf(coverage.notCovered),
        words: { reached: t.lineReached, missed: t.lineMissed },
      },
    [coverage, t],
  );
  const { error } = checked;
  const places = error instanceof ApiProblem ? error.places : [];
  const isDrawn = draft.graph !== undefined;
  return (
    <>
      {isDrawn ? (
        <>
          <GraphSlot
            graph={draft.graph}
            onChange={(graph) => change({ graph })}
            readOnly={readOnly}
            problems={places}
            {...(checked.tried?.explain?.path && { path: checked.tried.explain.path })}
          />
          {base && (
            <details open={line !== undefined}>
              <summary>{t.effectiveRego}</summary>
              <CodeEditor
                label={t.effectiveRego}
                language="rego"
                value={base.policy.effectiveRego}
                readOnly
                line={line}
              />
            </details>
          )}
        </>
      ) : (
        <CodeEditor
          {...{ label: t.regoOf, language: 'rego', readOnly, vocabulary, reach, line }}
          value={draft.rego ?? ''}
          problems={checked.problems}
          onChange={(rego) => change({ rego })}
        />
      )}
      <Problems checked={checked} />
      {error !== undefined && !(isDrawn && places.length > 0) && <ProblemAlert error={error} />}
      {checked.notes.map((note) => (
        <Notice key={note} tone="warn">
          {note}
        </Notice>
      ))}
      <DataSubjectFields editing={editing} readOnly={readOnly} />
    </>
  );
}

/** The errors again in words, for those who do not see the marks. */
function Problems({ checked: { problems } }: { checked: Checked }) {
  const t = useTexts(texts);
  if (problems.length === 0) return null;
  return (
    <div className="notice bad" role="alert">
      <ul>
        {problems.map(({ line, column, detail }) => (
          <li key={`${line} ${column} ${detail}`}>
            {t.lineColumn(line, column)}: {detail}
          </li>
        ))}
      </ul>
    </div>
  );
}

function DataSubjectFields({ editing, readOnly }: { editing: Editing; readOnly: boolean }) {
  const t = useTexts(texts);
  const { dataSubjects } = editing.draft;
  const { relationship = '', path = '' } = dataSubjects ?? {};
  const isRead = /input\.dataSubjects/.test(editing.draft.rego ?? JSON.stringify(editing.draft.graph ?? ''));
  if (readOnly && dataSubjects === undefined) return null;
  const set = (part: { relationship?: string; path?: string }) => {
    const all = Object.entries({ relationship, path, ...part }).filter(([, value]) => value !== '');
    editing.change({ dataSubjects: all.length === 0 ? undefined : Object.fromEntries(all) });
  };
  return (
    <details open={dataSubjects !== undefined || isRead}>
      <summary>{t.dataSubjects}</summary>
      <div className="stack">
        <p className="dim">{t.dataSubjectsAbout}</p>
        <TextInput
          {...{
            label: t.dataSubjectsRelationship,
            value: relationship,
            readOnly,
            placeholder: 'user:is_owner_of:record',
          }}
          onChange={(event) => set({ relationship: event.currentTarget.value })}
        />
        <TextInput
          {...{ label: t.dataSubjectsPath, value: path, readOnly, placeholder: 'resource.patient' }}
          onChange={(event) => set({ path: event.currentTarget.value })}
        />
      </div>
    </details>
  );
}
