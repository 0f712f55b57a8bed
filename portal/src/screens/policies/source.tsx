/** The source of a policy: Rego in an editor; of a drawn one the drawing, and beside it the Rego that it becomes. */
import { Button, TextInput } from '@mantine/core';
import { type KeyboardEvent, useMemo } from 'react';
import { ApiProblem } from '../../core/problem.ts';
import { useTexts } from '../../core/texts.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import type { Vocabulary } from '../../editor/completion.ts';
import type { Reach } from '../../editor/marks.ts';
import { Notice, ProblemAlert } from '../../ui/index.ts';
import { type Explanation, isTold, type Place } from '../../why/index.ts';
import { DrawnRegoPanel, drawnRego } from './drawn-rego.tsx';
import { GraphSlot } from './graph-slot.tsx';
import type { Marking } from './marking.ts';
import { linesOf } from './shapes.ts';
import { texts } from './texts.ts';
import type { Checked } from './use-check.ts';
import type { Editing } from './use-editing.ts';
import { useFormat } from './use-format.ts';

type Props = {
  editing: Editing;
  checked: Checked;
  readOnly: boolean;
  vocabulary: Vocabulary;
  marking: Marking;
  place: Place;
  /** What tells of places: the answer of the question, or of the decision that is open. */
  explain: Explanation | undefined;
};

export function Source(props: Props) {
  const { editing, checked, readOnly, marking, place, explain } = props;
  const { error } = checked;
  const places = placesOf(error);
  const isDrawn = editing.draft.graph !== undefined;
  const isShown = explain !== undefined && isTold(explain, place);
  const goToTrace = (at: Place) => marking.set({ ...at, by: 'source', goes: true });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !event.altKey || explain === undefined) return;
    const { node } = event.target instanceof HTMLElement ? event.target.dataset : {};
    const at = node === undefined ? place : { node };
    if (!isTold(explain, at)) return;
    event.preventDefault();
    goToTrace(at);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a key for all that is in it; it has its button
    <div className="stack" onKeyDown={onKeyDown}>
      {isDrawn ? <Drawn {...props} problems={places} /> : <Rego {...props} />}
      {isShown && <ToTrace place={place} onGo={() => goToTrace(place)} />}
      <Problems checked={checked} />
      {error !== undefined && !(isDrawn && places.length > 0) && <ProblemAlert error={error} />}
      {checked.notes.map((note) => (
        <Notice key={note} tone="warn">
          {note}
        </Notice>
      ))}
      <DataSubjectFields editing={editing} readOnly={readOnly} />
    </div>
  );
}

const placesOf = (error: unknown) => (error instanceof ApiProblem ? error.places : []);

function Rego({ editing, checked, readOnly, vocabulary, marking: { mark, set } }: Props) {
  const t = useTexts(texts);
  const { draft, change } = editing;
  const { format, isBusy, refused } = useFormat(editing);
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
  const isTold = mark?.by === 'trace' && mark.line !== undefined;
  return (
    <>
      <CodeEditor
        {...{ label: t.regoOf, language: 'rego', readOnly, vocabulary, reach }}
        value={draft.rego ?? ''}
        problems={checked.problems}
        lines={isTold ? [mark.line as number] : []}
        cursor={isTold && mark.goes ? mark : undefined}
        onChange={(rego) => change({ rego })}
        onLine={(line) => set({ line, by: 'source' })}
        onFormat={format}
      />
      {!readOnly && (
        <div className="row">
          <Button variant="default" size="compact-sm" loading={isBusy} onClick={format}>
            {t.format}
          </Button>
          <span className="dim">Shift-Alt-F</span>
        </div>
      )}
      {refused && <NotFormatted {...refused} />}
    </>
  );
}

function NotFormatted({ problems: [first], error }: Pick<Checked, 'problems' | 'error'>) {
  const t = useTexts(texts);
  if (first === undefined) return <ProblemAlert error={error} />;
  return (
    <div className="notice bad" role="alert">
      {t.notFormatted} {t.lineColumn(first.line, first.column)}: {first.detail}
    </div>
  );
}

type DrawnProps = Props & { problems: ReturnType<typeof placesOf> };

function Drawn({ editing, checked, readOnly, problems, marking, place }: DrawnProps) {
  const path = checked.tried?.explain?.path;
  return (
    <div className="drawn-source">
      <div className="drawn-parts">
        <GraphSlot
          graph={editing.draft.graph}
          onChange={(graph) => editing.change({ graph })}
          {...{ readOnly, problems, marked: place.node, mark: marking.mark, ...(path && { path }) }}
          onMark={(node) => marking.set({ node, by: 'source' })}
        />
        <DrawnRegoPanel rego={drawnRego(editing, checked)} marking={marking} />
      </div>
    </div>
  );
}

/** For who comes from the source by keyboard or by mouse. */
function ToTrace({ place, onGo }: { place: Place; onGo: () => void }) {
  const t = useTexts(texts);
  return (
    <div className="row">
      <Button variant="default" size="compact-sm" onClick={onGo}>
        {t.inTrace(place.node ?? t.lineColumn(place.line ?? 1, undefined))}
      </Button>
      <span className="dim">Alt-Enter</span>
    </div>
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
