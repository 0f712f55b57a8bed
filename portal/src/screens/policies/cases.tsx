/** Cases that are saved with the policy: its tests. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { Icon, State } from '../../ui/index.ts';
import type { Answer } from '../../why/index.ts';
import type { Case, Coverage } from './shapes.ts';
import { texts } from './texts.ts';

type Props = {
  cases: readonly Case[];
  /** Those that fail, by index; undefined where they were not run. */
  failed: ReadonlyMap<number, string> | undefined;
  coverage: Coverage | undefined;
  /** The question and its answer, from which a case is made. */
  current: { input: Record<string, unknown>; answer: Answer } | undefined;
  readOnly: boolean;
  isTitled: boolean;
  onChange: (cases: Case[]) => void;
  onOpen: (input: Record<string, unknown>) => void;
  /** The case expects what the draft answers from now on. */
  onAccept: (one: Case) => Promise<void>;
};

export function Cases({ cases, failed, coverage, current, readOnly, isTitled, onChange, onOpen, onAccept }: Props) {
  const t = useTexts(texts);
  return (
    <div className="stack">
      {isTitled && <h3>{t.cases}</h3>}
      {coverage && (
        <p className="dim" role="status">
          {t.coverage(coverage.coverage)}
        </p>
      )}
      {cases.length === 0 && <p className="dim">{t.noCases}</p>}
      <ul className="policy-cases">
        {cases.map((one, index) => (
          <li key={one.name}>
            <CaseState failure={failed?.get(index)} isRun={failed !== undefined} />
            <button type="button" className="plain grow" onClick={() => onOpen(one.input)} title={t.openCase}>
              {one.name} <span className="dim">→ {outcomeText(one.expect.outcome)}</span>
            </button>
            {!readOnly && (
              <button
                type="button"
                className="plain"
                aria-label={t.removeCase(one.name)}
                onClick={() => onChange(cases.filter((each) => each !== one))}
              >
                <Icon name="trash" />
              </button>
            )}
            {failed?.has(index) && (
              <p className="dim">
                {failed.get(index)}{' '}
                {!readOnly && (
                  <button type="button" className="plain chip" onClick={() => void onAccept(one)}>
                    {t.acceptAnswer}
                  </button>
                )}
              </p>
            )}
          </li>
        ))}
      </ul>
      {!readOnly && current && <AddCase {...{ cases, current, onChange }} />}
    </div>
  );
}

const outcomeText = (outcome: unknown) => (typeof outcome === 'string' ? outcome : JSON.stringify(outcome ?? '…'));

function CaseState({ failure, isRun }: { failure: string | undefined; isRun: boolean }) {
  const t = useTexts(texts);
  if (!isRun) return <State tone="none">{t.notRun}</State>;
  return failure === undefined ? <State tone="ok">{t.passes}</State> : <State tone="bad">{t.fails}</State>;
}

type Adding = Pick<Props, 'onChange'> & { cases: readonly Case[]; current: NonNullable<Props['current']> };

function AddCase({ cases, current: { input, answer }, onChange }: Adding) {
  const t = useTexts(texts);
  const [name, setName] = useState('');
  const isTaken = cases.some((one) => one.name === name.trim());
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '' || isTaken) return;
    onChange([...cases, { name: name.trim(), input, expect: { outcome: answer.outcome } }]);
    setName('');
  };
  return (
    <form className="policy-add-case" onSubmit={add}>
      <TextInput
        {...{ label: t.caseName, value: name, maxLength: 128, placeholder: t.caseExample }}
        error={isTaken ? t.caseTaken : undefined}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" disabled={name.trim() === '' || isTaken}>
        {t.addCase(outcomeText(answer.outcome))}
      </Button>
    </form>
  );
}
