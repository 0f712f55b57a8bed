/** The editor of a drawn policy: its drawing, its outline, and the form of the node that is open. */
import { Button } from '@mantine/core';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useRouteParams } from '../../../core/address.ts';
import { useTexts } from '../../../core/texts.ts';
import { Icon, Notice } from '../../../ui/index.ts';
import type { GraphProps } from '../graph-slot.tsx';
import { useVocabulary } from '../question.ts';
import { Canvas } from './canvas.tsx';
import {
  type Addition,
  addOnWay,
  changeNode,
  connect,
  isPlaced,
  type Places,
  placeNodes,
  removeNode,
  renameNode,
  unplaceNodes,
} from './change.ts';
import { type Actions, ActionsContext } from './context.ts';
import { cardHeight, placesOf } from './layout.ts';
import { type GraphNode, nodeOf, type Problem, sortProblems, type Way } from './model.ts';
import { NodeForm } from './node-form.tsx';
import { Outline } from './outline.tsx';
import { linesOf, summaryOf } from './sentences.ts';
import { texts } from './texts.ts';
import { useGraph } from './use-graph.ts';
import './graph.css';

const noProblems: readonly Problem[] = [];
const noPath: string[] = [];

export default function GraphEditor({
  graph: value,
  onChange,
  readOnly,
  problems = noProblems,
  path = noPath,
}: GraphProps) {
  const t = useTexts(texts);
  const vocabulary = useVocabulary();
  const { name = '' } = useRouteParams();
  const thing = name.split(/[:.]/).find((word) => vocabulary.types.includes(word));
  const edited = useGraph(value, onChange);
  const { graph, now, change } = edited;
  const [open, setOpen] = useState<string>();
  const [said, setSaid] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const focusRow = useFocusRow(box);

  const summary = useCallback((node: GraphNode) => summaryOf(node, t, thing), [t, thing]);
  const add = useCallback(
    (way: Way, addition: Addition) => {
      const added = addOnWay(now(), way, addition);
      change(added.graph);
      setOpen(added.id);
    },
    [now, change],
  );
  const actions = useMemo<Actions>(() => ({ readOnly, t, summary, add, open: setOpen }), [readOnly, t, summary, add]);
  // A new list of errors with the same errors is not another one.
  const errors = JSON.stringify(problems);
  const taken = JSON.stringify(path);
  const laid = useMemo(() => {
    const { ofNodes, rest } = sortProblems(graph, JSON.parse(errors) as Problem[]);
    const lines = new Map(graph.nodes.map((node) => [node.id, linesOf(node, t, thing)]));
    const details = (id: string) => (ofNodes.get(id) ?? noProblems).map(({ detail }) => detail);
    const heights = new Map([...lines].map(([id, texts]) => [id, cardHeight([...texts, ...details(id)])]));
    return { rest, graph, lines, problems: ofNodes, places: placesOf(graph, heights) };
  }, [graph, t, thing, errors]);
  const drawn = useMemo(() => ({ ...laid, path: JSON.parse(taken) as string[], open }), [laid, taken, open]);
  const { rest } = laid;

  const place = useCallback((places: Places) => change(placeNodes(now(), places)), [now, change]);
  const join = useCallback((way: Way, to: string | undefined) => change(connect(now(), way, to)), [now, change]);
  const remove = (id: string | undefined) => {
    const node = nodeOf(graph, id);
    if (readOnly || node === undefined || node.type === 'start') return;
    const above = graph.edges.find(({ to }) => to === id)?.from ?? graph.nodes[0]?.id;
    change(removeNode(graph, node.id));
    setSaid(t.removed(summary(node)));
    setOpen(undefined);
    focusRow(above);
  };
  const close = () => {
    setOpen(undefined);
    focusRow(open);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const act = readOnly ? undefined : keyOf(event);
    if (act === undefined) return;
    event.preventDefault();
    if (act !== 'remove') edited[act]();
    else remove((event.target as HTMLElement).dataset.node ?? open);
  };
  const node = nodeOf(graph, open);
  const outline = <Outline {...{ graph, problems: drawn.problems, path: drawn.path, open }} />;
  return (
    <ActionsContext value={actions}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys for all that is in it; each has its button */}
      <div className={node ? 'graph-editor with-form' : 'graph-editor'} ref={box} onKeyDown={onKeyDown}>
        {!readOnly && <Tools {...edited} isPlaced={isPlaced(graph)} onArrange={() => change(unplaceNodes(graph))} />}
        {rest.length > 0 && (
          <Notice tone="bad">
            {rest.map(({ pointer, detail }) => (
              <p key={pointer + detail}>
                <code>{pointer}</code> {detail}
              </p>
            ))}
          </Notice>
        )}
        <div className="graph-parts">
          {outline}
          <div className="graph-canvas">
            <Canvas drawn={drawn} onPlace={place} onConnect={join} />
          </div>
          {node && (
            <NodeForm
              {...{ graph, node, vocabulary, problems: drawn.problems.get(node.id) ?? noProblems }}
              onChange={(part, field) => change(changeNode(now(), node.id, part), field && `${node.id} ${field}`)}
              onRename={(id) => {
                change(renameNode(now(), node.id, id));
                setOpen(id);
              }}
              onConnect={join}
              onRemove={() => remove(node.id)}
              onClose={close}
            />
          )}
        </div>
        <p className="visually-hidden" role="status">
          {said}
        </p>
      </div>
    </ActionsContext>
  );
}

/** What a key does: undo, redo, and outside of fields remove. */
function keyOf({
  key,
  ctrlKey,
  metaKey,
  shiftKey,
  altKey,
  target,
}: KeyboardEvent): 'undo' | 'redo' | 'remove' | undefined {
  const isField = target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  if ((ctrlKey || metaKey) && !altKey) {
    if (key.toLowerCase() === 'z') return shiftKey ? 'redo' : 'undo';
    return key.toLowerCase() === 'y' ? 'redo' : undefined;
  }
  return (key === 'Delete' || key === 'Backspace') && !isField ? 'remove' : undefined;
}

/** Moves the focus to a node's row of the outline, once it is drawn. */
function useFocusRow(box: React.RefObject<HTMLElement | null>) {
  const [wanted, setWanted] = useState<{ id: string }>();
  useEffect(() => {
    if (wanted === undefined) return;
    for (const row of box.current?.querySelectorAll<HTMLElement>('[data-node]') ?? [])
      if (row.dataset.node === wanted.id) return row.focus();
  }, [wanted, box]);
  return (id: string | undefined) => setWanted(id === undefined ? undefined : { id });
}

type ToolsProps = {
  mayUndo: boolean;
  mayRedo: boolean;
  undo: () => void;
  redo: () => void;
  isPlaced: boolean;
  onArrange: () => void;
};

function Tools({ mayUndo, mayRedo, undo, redo, isPlaced: isMoved, onArrange }: ToolsProps) {
  const t = useTexts(texts);
  const common = { variant: 'default', size: 'compact-sm' } as const;
  return (
    <div className="row">
      <Button {...common} leftSection={<Icon name="undo" />} disabled={!mayUndo} onClick={undo}>
        {t.undo}
      </Button>
      <Button {...common} disabled={!mayRedo} onClick={redo}>
        {t.redo}
      </Button>
      <Button {...common} title={t.arrangeAbout} disabled={!isMoved} onClick={onArrange}>
        {t.arrange}
      </Button>
      <span className="dim graph-keys">{t.keys}</span>
    </div>
  );
}
