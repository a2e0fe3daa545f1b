/** The editor of a script: JavaScript, with the lines that are wrong marked. */
import { javascript } from "@codemirror/lang-javascript";
import { CodeEditor } from "../editor/codeEditor.tsx";
import type { LineMark } from "../editor/marks.ts";

const language = javascript();

export function ScriptEditor(props: {
  readonly value: string;
  readonly readOnly: boolean;
  readonly marks: readonly LineMark[];
  readonly onChange: (text: string) => void;
  readonly onRun: (text: string) => void;
}) {
  return <CodeEditor {...props} label="Source" language={language} />;
}
