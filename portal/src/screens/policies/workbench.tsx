/** The three columns of a policy, and what is above them: its owner, its state, saving. */
import { useMemo } from 'react';
import { useFilters, useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useStop } from '../../core/stop.ts';
import { useTexts } from '../../core/texts.ts';
import { fieldsOf } from '../../editor/completion.ts';
import { Notice, PageHeader, ProblemAlert, toast } from '../../ui/index.ts';
import type { Place } from '../../why/index.ts';
import { Cases } from './cases.tsx';
import { type ColumnPart, Columns } from './columns.tsx';
import { Conflict } from './conflict.tsx';
import { drawnRego } from './drawn-rego.tsx';
import { HeaderAbout, HeaderActions } from './header.tsx';
import { type Marking, placeOf, useMarking } from './marking.ts';
import { isIncomplete, ofInput } from './question.ts';
import { QuestionForm } from './question-form.tsx';
import { RenameNew } from './rename-new.tsx';
import { SaveBar } from './save-bar.tsx';
import type { Case, Stored } from './shapes.ts';
import { Source } from './source.tsx';
import { texts } from './texts.ts';
import { type Kept, Recorded, Trace, TraceBox, useDecision } from './trace.tsx';
import { answerFor, type Checked, useCheck } from './use-check.ts';
import { type Editing, useEditing } from './use-editing.ts';
import { type AskedQuestion, useQuestion } from './use-question.ts';

type Props = { name: string; stored: Stored | undefined };

export function Workbench({ name, stored }: Props) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const [filters, setFilters] = useFilters(['template', 'line', 'decision', 'change', 'subject', 'resource']);
  const mayEdit = mayDo(tenant.role, 'edit');
  const isChanging = filters.change !== undefined;
  const editing = useEditing(name, stored, { template: filters.template, mayEdit, isChanging });
  const { base, draft, readOnly } = editing;
  const owner = base?.policy.managedBy ?? 'api';
  const asked = useQuestion(name, filters, { draft, mayTry: mayEdit });
  // Until its facts are there, an answer would be about others.
  const { isBusy, error, denied } = asked.loading;
  const input = 'input' in asked.input && !isBusy && error === undefined ? asked.input.input : undefined;
  const found = useCheck({ name, draft, input, canDryRun: !editing.isManaged, isOff: !mayEdit || editing.isOld });
  const checked = denied ? { ...found, tried: { ...found.tried, ...denied } } : found;
  const line = filters.line === undefined ? undefined : Number(filters.line);
  const marking = useMarking(line);
  const { decision, change, subject, resource } = filters;
  const panes: Panes = {
    name,
    editing,
    checked,
    readOnly,
    line,
    decision,
    kept: { decision, change, subject, resource },
    asked,
    marking,
  };
  return (
    <div className="policy-page">
      <PageHeader
        title={name}
        back={{ to: '/policies', label: t.title }}
        about={<HeaderAbout stored={base} />}
        actions={
          <HeaderActions
            {...{ name, draft, owner, mayEdit }}
            stored={base}
            isChanging={isChanging}
            onChange={(isOn) => setFilters({ change: isOn ? '1' : undefined })}
          />
        }
      />
      <div className="stack">
        {editing.error !== undefined && <ProblemAlert error={editing.error} />}
        {editing.isOld ? (
          <Conflict theirs={base?.policy} mine={draft} onKeep={editing.rebase} onDrop={editing.drop} />
        ) : (
          <>
            {!readOnly && <SaveBar {...{ name, editing, checked, owner }} />}
            {base === undefined && mayEdit && <RenameNew {...{ name, editing, template: filters.template }} />}
            <PolicyColumns {...panes} />
          </>
        )}
      </div>
    </div>
  );
}

type Panes = {
  name: string;
  editing: Editing;
  checked: Checked;
  readOnly: boolean;
  line: number | undefined;
  decision: string | undefined;
  kept: Kept;
  asked: AskedQuestion;
  marking: Marking;
};

function PolicyColumns(panes: Panes) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const { editing, checked, readOnly, decision, asked, marking } = panes;
  const { mark } = marking;
  const mayTry = mayDo(tenant.role, 'edit');
  const recorded = useDecision(mayTry ? undefined : decision).data?.explain;
  const isDrawn = editing.draft.graph !== undefined;
  const { place } = placeOf(mark, isDrawn ? drawnRego(editing, checked)?.nodeLines : undefined);
  const wanted = useMemo(() => (mark?.goes ? { id: mark.by === 'source' ? 'trace' : 'source' } : undefined), [mark]);
  const { vocabulary, input } = asked;
  const fields = useMemo(() => ('input' in input ? fieldsOf(input.input) : []), [input]);
  const source = (
    <Source
      {...{ editing, checked, readOnly, marking, place, vocabulary: { ...vocabulary, fields } }}
      explain={checked.tried?.explain ?? recorded}
    />
  );
  const parts: ColumnPart[] = [
    { id: 'source', title: t.source, content: source },
    { id: 'try', title: mayTry ? t.tryIt : t.cases, content: <TryIt {...panes} mayTry={mayTry} /> },
  ];
  if (mayTry || decision !== undefined)
    parts.push({
      id: 'trace',
      title: t.trace,
      about: checked.isChecking && <span className="dim">{t.checking}</span>,
      content: <Answers {...panes} {...{ mayTry, place }} />,
    });
  return <Columns {...{ parts, wanted }} />;
}

function TryIt({ name, editing, checked, readOnly, line, asked, mayTry }: Panes & { mayTry: boolean }) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const stop = useStop();
  const accept = async (one: Case) => {
    const signal = stop();
    try {
      const expect = await answerFor(api, name, editing.draft, one, signal);
      if (signal.aborted) return;
      editing.change(({ tests }) => ({
        tests: tests.map((each) => (each.name === one.name ? { ...each, expect } : each)),
      }));
    } catch (caught) {
      if (!signal.aborted) toast({ text: (caught as Error).message });
    }
  };
  const go = useGo();
  const given = 'input' in asked.input ? asked.input.input : undefined;
  const { tried } = checked;
  return (
    <>
      {mayTry ? (
        <QuestionForm
          {...{ policy: name, question: asked.question, input: asked.input, types: asked.vocabulary.types }}
          loading={asked.loading}
          onChange={asked.ask}
        />
      ) : (
        <p className="dim">{t.mayNotTry}</p>
      )}
      <Cases
        cases={editing.draft.tests}
        failed={checked.failed}
        coverage={tried?.coverage}
        current={given && tried ? { input: given, answer: tried } : undefined}
        readOnly={readOnly}
        isTitled={mayTry}
        onChange={(tests) => editing.change({ tests })}
        onAccept={accept}
        onOpen={(input) => {
          asked.ask(ofInput(asked.question, input));
          if (line !== undefined) go(`/policies/${segment(name)}`, { replace: true });
        }}
      />
    </>
  );
}

type AnswersProps = Panes & { mayTry: boolean; place: Place };

function Answers({ editing, checked, decision, kept, asked, marking, mayTry, place }: AnswersProps) {
  const t = useTexts(texts);
  const marks = { kept, marking, place };
  return (
    <TraceBox mark={marking.mark}>
      {decision !== undefined && <Recorded id={decision} isExplained={!mayTry} marks={marks} />}
      {decision !== undefined && mayTry && <h3>{editing.isDirty ? t.draftAnswers : t.storedAnswers}</h3>}
      {mayTry && isIncomplete(asked.question) && <Notice>{t.fillIn}</Notice>}
      {mayTry && <Trace checked={checked} marks={marks} paths={asked.question.paths} />}
    </TraceBox>
  );
}
