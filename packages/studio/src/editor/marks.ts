/** Lines of an editor that are wrong, as decorations that move with the text. */
import { StateEffect, StateField, type EditorState } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";

export interface LineMark {
  /** From 1. One beyond the text marks its last line. */
  readonly line: number;
  readonly text: string;
}

/** Replaces all marks. */
export const setMarks = StateEffect.define<readonly LineMark[]>();

export const marksField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, transaction) => {
    const set = transaction.effects.find((effect) => effect.is(setMarks));
    if (set === undefined) return marks.map(transaction.changes);
    return marked(transaction.state, set.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function marked(state: EditorState, marks: readonly LineMark[]): DecorationSet {
  const ranges = marks.map(({ line, text }) => {
    const at = state.doc.line(Math.min(Math.max(1, line), state.doc.lines)).from;
    return Decoration.line({ class: "cm-wrong", attributes: { title: text } }).range(at);
  });
  return Decoration.set(ranges, true);
}
