/** Two texts beside each other, with what differs; below each other's lines on narrow screens. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import './editor.css';
import { look } from './look.ts';
import { regoLanguage } from './rego-language.ts';

type Side = { label: string; text: string };
type Props = {
  before: Side;
  after: Side;
  /** Made once. @default Rego */
  language?: Extension;
  onChange?: (text: string) => void;
};

const narrowMax = 700;

export function Difference({ before, after, language = regoLanguage, onChange }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const isEditable = onChange !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed on the right does not make it again
  useEffect(() => {
    const parent = box.current as HTMLElement;
    const base: Extension = [lineNumbers(), language, EditorView.lineWrapping];
    const mine: Extension = [
      ...[look(after.label), base, EditorState.readOnly.of(!isEditable), history()],
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.updateListener.of((one) => one.docChanged && changed.current?.(one.state.doc.toString())),
    ];
    const collapseUnchanged = { margin: 3, minSize: 6 };
    if (parent.clientWidth <= narrowMax) {
      const merge = unifiedMergeView({ original: before.text, mergeControls: isEditable, collapseUnchanged });
      const view = new EditorView({ parent, doc: after.text, extensions: [mine, merge] });
      return () => view.destroy();
    }
    const view = new MergeView({
      parent,
      a: { doc: before.text, extensions: [look(before.label), base, EditorState.readOnly.of(true)] },
      b: { doc: after.text, extensions: mine },
      collapseUnchanged,
      ...(isEditable && { revertControls: 'a-to-b' as const }),
    });
    return () => view.destroy();
  }, [before.text, before.label, after.label, isEditable, isEditable ? '' : after.text]);
  return (
    <div>
      <div className="editor-sides dim">
        <span>{before.label}</span>
        <span>{after.label}</span>
      </div>
      <div ref={box} className="code-editor difference" />
    </div>
  );
}
