/** An editor of one text: Rego, JSON, or another language. What is typed goes out by onChange; a value that is another than what was typed replaces the text. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { diff } from '@codemirror/merge';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { completeRego, noVocabulary, type Vocabulary } from './completion.ts';
import './editor.css';
import { look } from './look.ts';
import { marks, type Reach, setReach, setToldLines } from './marks.ts';
import { regoLanguage } from './rego-language.ts';

export type LineProblem = { line: number; column?: number; detail: string };
type Props = {
  label: string;
  /** Another one as an extension, which is made once. */
  language: 'rego' | 'json' | Extension;
  value: string;
  onChange?: (value: string) => void;
  readOnly?: boolean;
  problems?: readonly LineProblem[];
  vocabulary?: Vocabulary;
  reach?: Reach;
  /** They are marked, and the first is scrolled to. */
  lines?: readonly number[];
  /** The cursor goes to this line, and the focus with it: once for each object. */
  cursor?: { line?: number } | undefined;
  /** Somebody went to another line. */
  onLine?: (line: number) => void;
  /** Shift-Alt-F, where the text can be changed. */
  onFormat?: () => void;
  /** Without numbers of lines, and Enter makes none. It does not change. */
  isOneLine?: boolean;
};
const noLines: readonly number[] = [];
const reached = new WeakSet<object>();

const access = new Compartment();
const locked = (readOnly: boolean) => EditorState.readOnly.of(readOnly);

/** Words of the language, with the names that are there when somebody completes. */
export const languageOf = (language: Props['language'], read: () => Vocabulary): Extension =>
  language === 'json'
    ? json()
    : language !== 'rego'
      ? language
      : [regoLanguage, regoLanguage.data.of({ autocomplete: completeRego(read) }), autocompletion({ icons: false })];

/**
 * Replaces what is selected by what is typed. Left to Chromium, it wraps the new text in spans with inline styles, which CodeMirror takes
 * away again but the Content-Security-Policy reports.
 */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const text = event.inputType === 'insertText' ? event.data : null;
    if (text === null || empty || view.composing || view.state.readOnly) return false;
    event.preventDefault();
    const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type' });
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});

const editing: Extension = [
  ...[typeOverSelection, history(), drawSelection(), bracketMatching(), closeBrackets(), EditorView.lineWrapping],
  keymap.of([...closeBracketsKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
];

const lines: Extension = [
  ...[lineNumbers(), indentOnInput(), highlightActiveLine(), highlightSelectionMatches(), search({ top: true })],
  ...[lintGutter(), keymap.of([...searchKeymap, ...defaultKeymap, indentWithTab])],
];

const oneLine: Extension = [
  EditorView.clipboardInputFilter.of((text) => text.replaceAll(/\s*[\r\n]+\s*/g, ' ')),
  keymap.of([{ key: 'Enter', run: () => true }, ...defaultKeymap]),
];

export function CodeEditor({ label, language, value, readOnly = false, problems, reach, ...props }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const { lines: marked = noLines, cursor } = props;
  const { onChange, onLine, onFormat, vocabulary = noVocabulary, isOneLine = false } = props;
  const given = { onChange, onLine, onFormat, vocabulary };
  const now = useRef(given);
  now.current = given;
  // biome-ignore lint/correctness/useExhaustiveDependencies: made once for a label; the text comes by the effect below
  useEffect(() => {
    const view = new EditorView({
      parent: box.current as HTMLElement,
      state: EditorState.create({
        doc: value,
        extensions: [
          ...[look(label), editing, isOneLine ? oneLine : [lines, marks]],
          languageOf(language, () => now.current.vocabulary),
          access.of(locked(readOnly)),
          keymap.of([{ key: 'Shift-Alt-f', run: (view) => formatBy(view, now.current.onFormat) }]),
          EditorView.updateListener.of((update) => {
            if (update.transactions.some((one) => one.isUserEvent('accord.told'))) return;
            if (update.docChanged) now.current.onChange?.(update.state.doc.toString());
            const line = lineOf(update.state);
            if (update.selectionSet && line !== lineOf(update.startState)) now.current.onLine?.(line);
          }),
        ],
      }),
    });
    editor.current = view;
    return () => view.destroy();
  }, [label, language]);
  useEffect(() => {
    editor.current?.dispatch({ effects: access.reconfigure(locked(readOnly)) });
  }, [readOnly]);
  useEffect(() => {
    const view = editor.current;
    if (view !== undefined) replaceText(view, value);
  }, [value]);
  useEffect(() => {
    const view = editor.current;
    if (view) view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, problems ?? [])));
  }, [problems]);
  useEffect(() => editor.current?.dispatch({ effects: setReach.of(reach) }), [reach]);
  const told = marked.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: told has the lines
  useEffect(() => {
    const view = editor.current;
    if (view === undefined) return;
    view.dispatch({ effects: setToldLines.of(marked) });
    const first = marked.find((line) => line >= 1 && line <= view.state.doc.lines);
    // Whoever is in the text sees what is marked around the cursor.
    if (first !== undefined && !view.hasFocus) scrollWithin(view, first);
  }, [told, readOnly ? value : undefined]);
  useEffect(() => {
    const [view, line] = [editor.current, cursor?.line];
    if (view === undefined || cursor === undefined || line === undefined || reached.has(cursor)) return;
    if (line < 1 || line > view.state.doc.lines) return;
    reached.add(cursor);
    const anchor = view.state.doc.line(line).from;
    view.dispatch({ selection: { anchor }, scrollIntoView: true, userEvent: 'accord.told' });
    view.focus();
  }, [cursor]);
  return <div ref={box} className="code-editor" />;
}

function formatBy({ state }: EditorView, format: (() => void) | undefined): boolean {
  if (format === undefined || state.readOnly) return false;
  format();
  return true;
}

/** One step to undo. Only what differs is replaced, so that the cursor stays in its place of the text. */
function replaceText(view: EditorView, value: string): void {
  const before = view.state.doc.toString();
  if (before === value) return;
  // As the editor keeps it: half of a line break would become one of its own.
  const after = value.replaceAll(/\r\n?/g, '\n');
  const changes = diff(before, after, { scanLimit: 500 }).map(({ fromA, toA, fromB, toB }) => ({
    ...{ from: fromA, to: toA, insert: after.slice(fromB, toB) },
  }));
  view.dispatch({ changes, userEvent: 'accord.told', annotations: isolateHistory.of('full') });
}

/** Shows a line in the middle of the editor, and leaves the page where it is. */
function scrollWithin(view: EditorView, line: number): void {
  const { from } = view.state.doc.line(line);
  view.requestMeasure({
    read: () => view.lineBlockAt(Math.min(from, view.state.doc.length)),
    write: ({ top, height }) => {
      view.scrollDOM.scrollTop = top - (view.scrollDOM.clientHeight - height) / 2;
    },
  });
}

const lineOf = ({ doc, selection }: EditorState) => doc.lineAt(selection.main.head).number;

function diagnosticsOf({ doc }: EditorState, problems: readonly LineProblem[]): Diagnostic[] {
  return problems.map(({ line, column = 1, detail }) => {
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
    const rest = /^[\w."]+/.exec(doc.sliceString(from, at.to))?.[0].length ?? 1;
    return { from, to: Math.min(from + rest, at.to), severity: 'error', message: detail };
  });
}
