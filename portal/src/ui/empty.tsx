/** A list with nothing in it yet: one sentence, a picture of what will be here, the action, and the call and manifest that do the same. */
import { type ReactNode, useState } from 'react';
import { type Code, CodeBlock, CodeLater } from './show-as.tsx';
import { useUiTexts } from './texts.ts';

type Props = {
  /** "No policy decides yet. The first one says who may do what." */
  sentence: string;
  /** An <svg className="picture"> that is drawn for this list. */
  picture?: ReactNode;
  action?: ReactNode;
  /** A curl command. */
  call?: string;
  /** YAML. */
  manifest?: Code;
};

export function Empty({ sentence, picture = <Rows />, action, call, manifest }: Props) {
  const texts = useUiTexts();
  const [isOpened, setOpened] = useState(false);
  return (
    <section className="empty card">
      {picture}
      <p>{sentence}</p>
      {action}
      {call !== undefined && (
        <details>
          <summary>{texts.emptyCall}</summary>
          <CodeBlock code={call} />
        </details>
      )}
      {manifest !== undefined && (
        <details onToggle={() => setOpened(true)}>
          <summary>{texts.emptyManifest}</summary>
          {isOpened && <CodeLater code={manifest} />}
        </details>
      )}
    </section>
  );
}

const Rows = () => (
  <svg className="picture" viewBox="0 0 240 72" aria-hidden="true" fill="none" stroke="currentColor">
    {[4, 28, 52].map((y) => (
      <g key={y} strokeWidth="1.5" strokeDasharray="4 4">
        <rect x="1" y={y} width="238" height="16" rx="4" />
      </g>
    ))}
  </svg>
);
