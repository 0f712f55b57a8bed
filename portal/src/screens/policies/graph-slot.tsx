/**
 * Where the editor of drawn policies stands. It is ./graph/editor.tsx, loaded when a drawn policy is opened; until it is there, the
 * graph is shown and edited as JSON.
 */
import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { Notice } from '../../ui/index.ts';
import { CodeEditor } from './editor/code-editor.tsx';
import { texts } from './texts.ts';

export type GraphProps = {
  graph: unknown;
  onChange: (graph: unknown) => void;
  readOnly: boolean;
  problems: readonly { pointer: string; detail: string }[];
  /** The ids of the nodes that the last question went through. */
  path?: string[];
};

const found = Object.values(import.meta.glob<{ default: ComponentType<GraphProps> }>('./graph/editor.tsx'))[0];
const GraphEditor = found && lazy(found);

export function GraphSlot(props: GraphProps) {
  if (GraphEditor === undefined) return <GraphAsJson {...props} />;
  return (
    <Suspense fallback={<span className="skeleton" />}>
      <GraphEditor {...props} />
    </Suspense>
  );
}

function GraphAsJson({ graph, onChange, readOnly, problems }: GraphProps) {
  const t = useTexts(texts);
  const [text, setText] = useState(() => JSON.stringify(graph, null, 2));
  const [wrong, setWrong] = useState<string>();
  useEffect(() => {
    // Another graph than the one that was typed, such as the stored one after a draft is given up.
    setText((before) => (sameJson(before, graph) ? before : JSON.stringify(graph, null, 2)));
  }, [graph]);
  const change = (typed: string) => {
    setText(typed);
    try {
      const value: unknown = JSON.parse(typed);
      setWrong(undefined);
      onChange(value);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div className="stack">
      <Notice>{t.graphAsJson}</Notice>
      <CodeEditor label={t.graph} language="json" value={text} readOnly={readOnly} onChange={change} />
      {wrong !== undefined && (
        <p className="policy-wrong" role="alert">
          {t.noJson(wrong)}
        </p>
      )}
      {problems.length > 0 && (
        <ul>
          {problems.map(({ pointer, detail }) => (
            <li key={pointer + detail}>
              <code>{pointer}</code> {detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function sameJson(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    // What is typed is no JSON yet: the graph is the last that was.
    return true;
  }
}
