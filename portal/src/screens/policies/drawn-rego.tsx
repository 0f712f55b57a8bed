/** The Rego that a drawing becomes, as it is drawn now. Its lines and the nodes of the drawing mark each other. */
import { useEffect, useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { type Marking, nodeAtLine, placeOf } from './marking.ts';
import type { DrawnRego } from './shapes.ts';
import { texts } from './texts.ts';
import type { Checked } from './use-check.ts';
import type { Editing } from './use-editing.ts';

type Rego = DrawnRego & { isOld?: true };

/** Of what is stored the server said it with the policy; of a draft the check says it. */
export const drawnRego = ({ isDirty, base }: Editing, { drawn }: Checked): Rego | undefined =>
  isDirty ? (drawn ?? (base && { ...base.policy, isOld: true })) : base?.policy;

const stored = 'accord.policy.drawn-rego';

export function DrawnRegoPanel({ rego, marking: { mark, set } }: { rego: Rego | undefined; marking: Marking }) {
  const t = useTexts(texts);
  const [isOpen, setOpen] = useState(() => localStorage.getItem(stored) === 'open');
  const isLine = mark?.by === 'trace' && mark.line !== undefined;
  useEffect(() => {
    if (isLine) setOpen(true);
  }, [isLine]);
  const toggle = (next: boolean) => {
    localStorage.setItem(stored, next ? 'open' : 'closed');
    setOpen(next);
  };
  const { place, lines } = placeOf(mark, rego?.nodeLines);
  return (
    <details
      open={isOpen}
      onToggle={(event) => event.currentTarget.open !== isOpen && toggle(event.currentTarget.open)}
    >
      <summary>{t.effectiveRego}</summary>
      {isOpen && rego && (
        <>
          {rego.isOld && <p className="dim">{t.regoOfBefore}</p>}
          <CodeEditor
            {...{ label: t.effectiveRego, language: 'rego', value: rego.effectiveRego, readOnly: true, lines }}
            cursor={isLine && mark.goes && place.node === undefined ? mark : undefined}
            onLine={(line) => {
              const node = nodeAtLine(rego.nodeLines, line);
              set({ line, by: 'source', ...(node !== undefined && { node }) });
            }}
          />
        </>
      )}
    </details>
  );
}
