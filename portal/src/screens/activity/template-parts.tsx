/** Subject, HTML and text of a mail, each in an editor of Liquid. */
import { useMemo, useRef } from 'react';
import { useTexts } from '../../core/texts.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { liquid } from '../../editor/liquid-language.ts';
import { texts } from './texts.ts';

export type Parts = { subject: string; html?: string; text?: string };
export type Part = keyof Parts;
export const partNames = ['subject', 'html', 'text'] as const;
/** What is wrong in a part; the line is there where the server knows it. */
export type PartProblem = { line?: number; column?: number; detail: string };
export type PartProblems = Readonly<Record<Part, readonly PartProblem[]>>;

type Props = {
  parts: Parts;
  variables: readonly string[];
  problems: PartProblems;
  isReadOnly: boolean;
  onChange: (changed: Partial<Parts>) => void;
};

export function TemplateParts({ parts, variables, problems, isReadOnly, onChange }: Props) {
  const t = useTexts(texts);
  const now = useRef(variables);
  now.current = variables;
  const languages = useMemo(() => {
    const read = () => now.current;
    return { subject: liquid(read), html: liquid(read, { isHtml: true }), text: liquid(read) };
  }, []);
  const labels = { subject: t.mailSubject, html: t.html, text: t.text };
  return partNames.map((part) => (
    <div key={part} className={`template-part ${part}`}>
      <h2>{labels[part]}</h2>
      <OnePart
        label={labels[part]}
        language={languages[part]}
        value={parts[part] ?? ''}
        problems={problems[part]}
        isReadOnly={isReadOnly}
        isOneLine={part === 'subject'}
        onChange={(value) => onChange({ [part]: value })}
      />
    </div>
  ));
}

type OneProps = {
  label: string;
  language: ReturnType<typeof liquid>;
  value: string;
  problems: readonly PartProblem[];
  isReadOnly: boolean;
  isOneLine: boolean;
  onChange: (value: string) => void;
};

function OnePart({ problems, isReadOnly, ...editor }: OneProps) {
  const marked = useMemo(
    () => problems.flatMap(({ line, ...rest }) => (line === undefined ? [] : [{ line, ...rest }])),
    [problems],
  );
  return (
    <>
      <CodeEditor {...editor} readOnly={isReadOnly} problems={marked} />
      {problems.length > 0 && (
        <div className="notice bad" role="alert">
          <ul>
            {problems.map(({ detail }) => (
              <li key={detail}>{detail}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
