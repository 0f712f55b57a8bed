/** The question that is tried. */
import { Button, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { ProblemAlert } from '../../ui/index.ts';
import { asJson, type Input, pretty, type Question, storedFacts } from './question.ts';
import { texts } from './texts.ts';

type Props = {
  policy: string;
  question: Question;
  input: Input;
  types: readonly string[];
  onChange: (question: Question) => void;
};

export function QuestionForm({ policy, question, input, types, onChange }: Props) {
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
        <Fields {...{ policy, question, types, change, wrong }} />
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
  change: (part: Partial<Question>) => void;
  wrong: { field: string; detail: string } | undefined;
};

function Fields({ policy, question, types, change, wrong }: FieldsProps) {
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
      <StoredFacts question={question} onFound={(facts) => change({ facts })} />
      <CodeEditor label={t.facts} language="json" value={question.facts} onChange={(facts) => change({ facts })} />
      {wrong?.field === 'facts' && <NoJson detail={wrong.detail} />}
    </>
  );
}

function StoredFacts({ question, onFound }: { question: Question; onFound: (facts: string) => void }) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const load = async () => {
    setBusy(true);
    setError(undefined);
    try {
      onFound(pretty(await storedFacts(api, question)));
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div>
      <Button variant="default" loading={isBusy} onClick={load}>
        {t.loadFacts}
      </Button>
      {error !== undefined && <ProblemAlert error={error} />}
    </div>
  );
}
