/** The question that is tried. */
import { Button, TextInput } from '@mantine/core';
import { useId } from 'react';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { Notice, ProblemAlert } from '../../ui/index.ts';
import { asJson, type Input, pairOf, type Question } from './question.ts';
import { texts } from './texts.ts';
import type { Loading } from './use-question.ts';

type Props = {
  policy: string;
  question: Question;
  input: Input;
  types: readonly string[];
  loading: Loading;
  onChange: (question: Question) => void;
};

export function QuestionForm({ policy, question, input, types, loading, onChange }: Props) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const isForm = question.mode === 'form';
  const change = (part: Partial<Question>) => onChange({ ...question, ...part });
  const wrong = 'field' in input ? input : undefined;
  return (
    <div className="stack">
      <fieldset className="policy-modes">
        <legend className="visually-hidden">{t.questionAs}</legend>
        <label>
          <input type="radio" checked={isForm} onChange={() => change({ mode: 'form' })} /> {t.form}
        </label>
        <label>
          <input type="radio" checked={!isForm} onChange={() => onChange(asJson(question, policy, tenant.code))} />{' '}
          {t.rawJson}
        </label>
      </fieldset>
      {isForm ? (
        <Fields {...{ policy, question, types, loading, change, wrong }} />
      ) : (
        <>
          <CodeEditor label={t.input} language="json" value={question.json} onChange={(json) => change({ json })} />
          {wrong?.field === 'json' && <NoJson detail={wrong.detail} />}
        </>
      )}
    </div>
  );
}

const NoJson = ({ detail }: { detail: string }) => {
  const t = useTexts(texts);
  return (
    <p className="policy-wrong" role="alert">
      {t.noJson(detail)}
    </p>
  );
};

type FieldsProps = {
  policy: string;
  question: Question;
  types: readonly string[];
  loading: Loading;
  change: (part: Partial<Question>) => void;
  wrong: { field: string; detail: string } | undefined;
};

function Fields({ policy, question, types, loading, change, wrong }: FieldsProps) {
  const t = useTexts(texts);
  const list = useId();
  const text = (field: 'subjectType' | 'subjectId' | 'resourceType' | 'resourceId', label: string) => (
    <TextInput
      {...{ label, value: question[field] }}
      {...(field.endsWith('Type') && { list })}
      onChange={(event) => change({ [field]: event.currentTarget.value })}
    />
  );
  return (
    <>
      <datalist id={list}>
        {types.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <div className="policy-pair">
        {text('subjectType', t.subjectType)}
        {text('subjectId', t.subjectId)}
      </div>
      <p>
        <span className="dim">{t.action}</span> <code>{policy}</code>
      </p>
      <div className="policy-pair">
        {text('resourceType', t.resourceType)}
        {text('resourceId', t.resourceId)}
      </div>
      <h3>{t.context}</h3>
      <CodeEditor
        label={t.context}
        language="json"
        value={question.context}
        onChange={(context) => change({ context })}
      />
      {wrong?.field === 'context' && <NoJson detail={wrong.detail} />}
      <h3>{t.facts}</h3>
      <p className="dim">{t.factsAbout}</p>
      <StoredFacts question={question} loading={loading} />
      <CodeEditor label={t.facts} language="json" value={question.facts} onChange={(facts) => change({ facts })} />
      {wrong?.field === 'facts' && <NoJson detail={wrong.detail} />}
    </>
  );
}

function StoredFacts({ question, loading }: { question: Question; loading: Loading }) {
  const t = useTexts(texts);
  const { factsOf, facts } = question;
  return (
    <div className="stack">
      <div>
        <Button variant="default" loading={loading.isBusy} onClick={loading.load}>
          {t.loadFacts}
        </Button>
      </div>
      {loading.error !== undefined && <ProblemAlert error={loading.error} />}
      {loading.denied && <Notice tone="warn">{t.deniedBefore(loading.denied.explain.failure?.detail ?? '')}</Notice>}
      {factsOf !== undefined && facts !== '' && factsOf !== pairOf(question) && (
        <Notice tone="warn">{t.factsOfOthers(factsOf)}</Notice>
      )}
    </div>
  );
}
