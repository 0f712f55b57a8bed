/** How editors look: by the tokens of ui/tokens.css, so that both themes are right. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { nonce } from '../core/page.ts';
import type { EditorTexts } from './texts.en.ts';

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.tagName, color: 'var(--accent)' },
  { tag: tags.comment, color: 'var(--dim)', fontStyle: 'italic' },
  { tag: [tags.string, tags.atom, tags.bool, tags.null, tags.number], color: 'var(--series-3)' },
  { tag: [tags.function(tags.variableName), tags.namespace], color: 'var(--series-4)' },
  { tag: tags.special(tags.variableName), color: 'var(--warn)' },
  {
    tag: [tags.propertyName, tags.attributeName, tags.variableName, tags.operator, tags.bracket, tags.punctuation],
    color: 'var(--text)',
  },
]);

const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--dim)', border: '0' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 50%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected] .cm-completionDetail': { color: 'var(--on-accent)' },
  '.cm-completionDetail': { color: 'var(--dim)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--sunken)', border: '1px solid var(--line-strong)' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)' },
  '.cm-reach': { width: '12px', textAlign: 'center', cursor: 'default' },
  '.cm-reach.reached': { color: 'var(--ok)' },
  '.cm-reach.missed': { color: 'var(--bad)', fontWeight: '600' },
  '.cm-told-line': { backgroundColor: 'var(--warn-soft)' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--accent)' },
  // What differs is underlined as well: the tint of its line is the darkest on which every colour of the text is AA.
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--bad-soft)' },
  '&.cm-merge-b .cm-changedLine, .cm-insertedLine, .cm-changedLine': { backgroundColor: 'var(--ok-soft)' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'none',
    borderBottom: '2px solid var(--bad)',
  },
  '&.cm-merge-b .cm-changedText, .cm-changedText': { background: 'none', borderBottom: '2px solid var(--ok)' },
  '.cm-collapsedLines': { background: 'var(--sunken)', color: 'var(--dim)' },
});

/** What every editor has. @param label what it is of, for screen readers */
export const look = (label: string, { phrases }: EditorTexts): Extension => [
  EditorState.phrases.of(phrases),
  EditorView.cspNonce.of(nonce),
  theme,
  syntaxHighlighting(colours),
  // It is in the tab order without it, but axe does not know that of what is edited in place.
  EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
];
