/** Marks beside and on lines: what the tests reach, and the lines that something else on the page tells. */
import { type Extension, RangeSet, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutter } from '@codemirror/view';

export type Reach = {
  reached: readonly number[];
  missed: readonly number[];
  words: { reached: string; missed: string };
};

class ReachMarker extends GutterMarker {
  readonly kind: 'reached' | 'missed';
  readonly words: string;
  constructor(kind: 'reached' | 'missed', words: string) {
    super();
    this.kind = kind;
    this.words = words;
    this.elementClass = `cm-reach ${kind}`;
  }
  override eq(other: ReachMarker) {
    return this.kind === other.kind && this.words === other.words;
  }
  override toDOM() {
    const sign = document.createElement('span');
    // Not by colour alone: a dot, or a ring.
    sign.textContent = this.kind === 'reached' ? '●' : '○';
    sign.title = this.words;
    sign.setAttribute('aria-label', this.words);
    sign.setAttribute('role', 'img');
    return sign;
  }
}

export const setReach = StateEffect.define<Reach | undefined>();
const reachField = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setReach)) continue;
      const { doc } = transaction.state;
      const { reached = [], missed = [], words = { reached: '', missed: '' } } = effect.value ?? {};
      const kinds = new Map<number, 'reached' | 'missed'>([
        ...reached.map((line) => [line, 'reached'] as const),
        ...missed.map((line) => [line, 'missed'] as const),
      ]);
      const lines = [...kinds].filter(([line]) => line >= 1 && line <= doc.lines).sort(([a], [b]) => a - b);
      next = RangeSet.of(lines.map(([line, kind]) => new ReachMarker(kind, words[kind]).range(doc.line(line).from)));
    }
    return next;
  },
});

export const setToldLines = StateEffect.define<readonly number[]>();
const toldField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setToldLines)) continue;
      const { doc } = transaction.state;
      const told = Decoration.line({ class: 'cm-told-line' });
      const lines = effect.value.filter((line) => line >= 1 && line <= doc.lines);
      next = Decoration.set(
        lines.map((line) => told.range(doc.line(line).from)),
        true,
      );
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export const marks: Extension = [
  reachField,
  toldField,
  gutter({ class: 'cm-reach-gutter', markers: (view) => view.state.field(reachField) }),
];
