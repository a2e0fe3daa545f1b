/**
 * CodeMirror for any language. It stands in a shadow root: there its styles are adopted sheets, while a document would
 * get a `<style>` element, which the page's policy forbids. What a language adds comes in as an extension.
 */
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, Prec, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { marksField, setMarks, type LineMark } from "./marks.ts";

export interface CodeEditorProps {
  /** What it holds, for a screen reader. */
  readonly label: string;
  readonly value: string;
  /** The language with its completion. A new value is taken over. */
  readonly language: Extension;
  readonly onChange: (text: string) => void;
  /** Ctrl Enter, with what stands there: a key that follows a change at once comes before it is drawn. */
  readonly onRun: (text: string) => void;
  /** Shown while it is empty. */
  readonly example?: string;
  readonly readOnly?: boolean;
  /** Has the focus when its page appears. */
  readonly first?: boolean;
  /** Lines that are wrong, and why. */
  readonly marks?: readonly LineMark[];
}

const noMarks: readonly LineMark[] = [];

export function CodeEditor(props: CodeEditorProps) {
  const { language, value, readOnly = false, marks = noMarks } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const languages = useRef(new Compartment());
  const modes = useRef(new Compartment());
  // Read when something happens, so that the editor is made once.
  const now = useRef(props);
  useEffect(() => {
    now.current = props;
  });
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const { value: doc, language: first } = now.current;
    const extensions = [
      languages.current.of(first),
      modes.current.of([]),
      ...extensionsFor(now.current, () => now.current),
    ];
    const state = EditorState.create({ doc, extensions });
    const made = new EditorView({ parent: root, root, state });
    view.current = made;
    if (now.current.first === true) made.focus();
    return () => made.destroy();
  }, []);
  useEffect(() => {
    view.current?.dispatch({ effects: languages.current.reconfigure(language) });
  }, [language]);
  useEffect(() => {
    const mode = [
      EditorState.readOnly.of(readOnly),
      EditorView.contentAttributes.of({ "aria-readonly": String(readOnly) }),
    ];
    view.current?.dispatch({ effects: modes.current.reconfigure(mode) });
  }, [readOnly]);
  useEffect(() => {
    const shown = view.current;
    if (shown === undefined || shown.state.doc.toString() === value) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: setMarks.of(marks) });
  }, [marks]);
  return <div className="editor" ref={place} />;
}

function extensionsFor(first: CodeEditorProps, now: () => CodeEditorProps): readonly Extension[] {
  const runKey = {
    key: "Mod-Enter",
    run: ({ state }: EditorView) => {
      now().onRun(state.doc.toString());
      return true;
    },
  };
  return [
    Prec.highest(keymap.of([runKey])),
    lineNumbers(),
    history(),
    drawSelection(),
    autocompletion(),
    marksField,
    // Without the key that indents: Tab leaves the editor.
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    syntaxHighlighting(colours),
    theme,
    placeholder(first.example ?? ""),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": first.label }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) now().onChange(update.state.doc.toString());
    }),
  ];
}

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "transparent", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", minHeight: "150px", maxHeight: "44vh" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--muted)", border: "none" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft) !important",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-ground)",
    color: "#fff",
  },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-wrong": { backgroundColor: "var(--bad-soft)", boxShadow: "inset 2px 0 var(--bad)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.definitionKeyword, tags.controlKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--muted)" },
  { tag: tags.typeName, color: "var(--info)" },
]);
