/** The console's editor: SQL, with tables and columns to complete. */
import { sql, type SQLNamespace } from "@codemirror/lang-sql";
import { useMemo } from "react";
import { CodeEditor } from "../editor/codeEditor.tsx";

export interface EditorProps {
  readonly value: string;
  readonly schema: SQLNamespace;
  readonly onChange: (text: string) => void;
  readonly onRun: (text: string) => void;
}

export function SqlEditor({ schema, ...rest }: EditorProps) {
  const language = useMemo(() => sql({ schema, upperCaseKeywords: false }), [schema]);
  return <CodeEditor {...rest} label="SQL" first language={language} example="select …" />;
}
