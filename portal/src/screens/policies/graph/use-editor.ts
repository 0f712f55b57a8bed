/** What the editor knows and does: the graph with its steps, the node that is open, what is drawn, and the keys. */
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useRouteParams } from '../../../core/address.ts';
import { useTexts } from '../../../core/texts.ts';
import type { GraphProps } from '../graph-slot.tsx';
import { takesFocus } from '../marking.ts';
import { useVocabulary } from '../question.ts';
import { type Addition, addOnWay, connect, type Places, placeNodes, removeNode, renameNode } from './change.ts';
import type { Actions } from './context.ts';
import { cardHeight, placesOf } from './layout.ts';
import { type GraphNode, nodeOf, type PolicyGraph, type Problem, sortProblems, type Way } from './model.ts';
import { linesOf, summaryOf } from './sentences.ts';
import type { Texts } from './texts.en.ts';
import { texts } from './texts.ts';
import { useGraph } from './use-graph.ts';

const noProblems: readonly Problem[] = [];

export function useEditor({ graph: value, onChange, readOnly, problems, path, ...marking }: GraphProps) {
  const t = useTexts(texts);
  const vocabulary = useVocabulary();
  const { name = '' } = useRouteParams();
  const thing = name.split(/[:.]/).find((word) => vocabulary.types.includes(word));
  const edited = useGraph(value, onChange);
  const { graph, now, change } = edited;
  const [open, show] = useState<string>();
  const onMark = useRef(marking.onMark);
  onMark.current = marking.onMark;
  const setOpen = useCallback((id: string | undefined) => {
    show(id);
    if (id !== undefined) onMark.current(id);
  }, []);
  const [said, setSaid] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const focusRow = useFocusRow(box);
  const { marked, mark } = marking;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each mark
  useEffect(() => {
    if (marked !== undefined && takesFocus(mark, 'source')) focusRow(marked);
  }, [mark, marked]);
  const isByKey = useRef(false);
  // A step by key may end the form in which the focus was: the keys go on.
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each step
  useEffect(() => {
    if (isByKey.current && !box.current?.contains(document.activeElement)) box.current?.focus();
    isByKey.current = false;
  }, [graph]);
  const summary = useCallback((node: GraphNode) => summaryOf(node, t, thing), [t, thing]);
  const add = useCallback(
    (way: Way, addition: Addition) => {
      const added = addOnWay(now(), way, addition);
      change(added.graph);
      setOpen(added.id);
    },
    [now, change, setOpen],
  );
  const actions = useMemo<Actions>(
    () => ({ readOnly, t, summary, add, open: setOpen }),
    [readOnly, t, summary, add, setOpen],
  );
  const drawn = useDrawn({ graph, problems, path, open, marked, t, thing });
  const place = useCallback((places: Places) => change(placeNodes(now(), places)), [now, change]);
  const join = useCallback((way: Way, to: string | undefined) => change(connect(now(), way, to)), [now, change]);
  const rename = (id: string, to: string) => {
    change(renameNode(now(), id, to));
    setOpen(to);
  };
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
    isByKey.current = true;
    if (act !== 'remove') edited[act]();
    else remove((event.target as HTMLElement).dataset.node ?? open);
  };
  return {
    ...edited,
    ...{ open, said, box, vocabulary, actions, drawn, place, join, rename, remove, close, onKeyDown },
  };
}

type DrawnProps = Pick<GraphProps, 'problems' | 'path' | 'marked'> & {
  graph: PolicyGraph;
  open: string | undefined;
  t: Texts;
  thing: string | undefined;
};

function useDrawn({ graph, problems, path = [], open, marked, t, thing }: DrawnProps) {
  // A new list with the same errors, or the same nodes, is not another one.
  const errors = JSON.stringify(problems);
  const taken = JSON.stringify(path);
  const laid = useMemo(() => {
    const { ofNodes, rest } = sortProblems(graph, JSON.parse(errors) as Problem[]);
    const lines = new Map(graph.nodes.map((node) => [node.id, linesOf(node, t, thing)]));
    const details = (id: string) => (ofNodes.get(id) ?? noProblems).map(({ detail }) => detail);
    const heights = new Map([...lines].map(([id, texts]) => [id, cardHeight([...texts, ...details(id)])]));
    return { rest, graph, lines, problems: ofNodes, places: placesOf(graph, heights) };
  }, [graph, t, thing, errors]);
  return useMemo(() => ({ ...laid, path: JSON.parse(taken) as string[], open, marked }), [laid, taken, open, marked]);
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
function useFocusRow(box: RefObject<HTMLElement | null>) {
  const [wanted, setWanted] = useState<{ id: string }>();
  useEffect(() => {
    if (wanted === undefined) return;
    for (const row of box.current?.querySelectorAll<HTMLElement>('[data-node]') ?? [])
      if (row.dataset.node === wanted.id) return row.focus();
  }, [wanted, box]);
  return (id: string | undefined) => setWanted(id === undefined ? undefined : { id });
}
