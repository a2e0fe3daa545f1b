/**
 * CodeMirror for SQL. It stands in a shadow root: there its styles are adopted sheets, while a document would get a
 * `<style>` element, which the page's policy forbids.
 */
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql, type SQLNamespace } from "@codemirror/lang-sql";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, Prec, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

export interface EditorProps {
  readonly value: string;
  readonly schema: SQLNamespace;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

export function SqlEditor(props: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const language = useRef(new Compartment());
  // Read when something happens, so that the editor is made once.
  const now = useRef(props);
  useEffect(() => {
    now.current = props;
  });
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const made = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: now.current.value,
        extensions: [
          language.current.of(sql({ schema: now.current.schema, upperCaseKeywords: false })),
          ...extensionsFor(() => now.current),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    view.current?.dispatch({
      effects: language.current.reconfigure(
        sql({ schema: props.schema, upperCaseKeywords: false }),
      ),
    });
  }, [props.schema]);
  useEffect(() => {
    const shown = view.current;
    if (shown === undefined || shown.state.doc.toString() === props.value) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: props.value } });
  }, [props.value]);
  return <div className="editor" ref={place} />;
}

function extensionsFor(now: () => EditorProps): readonly Extension[] {
  const runKey = {
    key: "Mod-Enter",
    run: () => {
      now().onRun();
      return true;
    },
  };
  return [
    Prec.highest(keymap.of([runKey])),
    lineNumbers(),
    history(),
    drawSelection(),
    autocompletion(),
    // Without the key that indents: Tab leaves the editor.
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    syntaxHighlighting(colours),
    theme,
    placeholder("select …"),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "SQL" }),
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
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--muted)" },
  { tag: tags.typeName, color: "var(--info)" },
]);
