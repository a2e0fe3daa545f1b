/** An example that a script is tried on, as the JSON that it is given, and what it answers. */
import { useState } from "react";
import type { ScriptAnswer } from "../api/shapes.ts";
import { durationText } from "../tool/format.ts";
import { jsonText } from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Failure } from "../ui/state.tsx";
import { useOf, type Example } from "./examples.ts";
import { failureText } from "./scriptTest.ts";

export function TryOut(props: {
  readonly use: string;
  readonly example: Example;
  readonly onExample: (example: Example) => void;
  readonly onRun: () => void;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly answer: ScriptAnswer | undefined;
}) {
  const { use, example, onExample, onRun, busy, error, answer } = props;
  const beside = useOf(use)?.beside;
  const typed =
    example.query !== undefined && (beside === undefined || example.beside !== undefined);
  return (
    <section className="stack try-out" aria-label="Test run">
      <h3>Test run</h3>
      <div className="columns">
        <JsonField
          label="Query"
          value={example.query}
          onChange={(query) => onExample({ ...example, query })}
        />
        {beside === undefined ? null : (
          <JsonField
            label={beside.name}
            value={example.beside}
            onChange={(value) => onExample({ ...example, beside: value })}
          />
        )}
      </div>
      <span className="row">
        <Button icon="play" busy={busy} disabled={!typed} onClick={onRun}>
          Run on this
        </Button>
        <span className="muted small">
          Ctrl Enter in the editor does it, too. Nothing is saved.
        </span>
      </span>
      {error === null ? null : <Failure error={error} />}
      {answer === undefined ? null : <Answer answer={answer} />}
    </section>
  );
}

function Answer({ answer }: { readonly answer: ScriptAnswer }) {
  if (!answer.answered) {
    return (
      <div className="note bad" role="alert">
        <strong>It failed ({answer.reason}).</strong> <code>{failureText(answer)}</code>
      </div>
    );
  }
  return (
    <div className="note ok" role="status">
      It answered in {durationText(answer.tookMs)}:
      <pre className="sql">{jsonText(answer.answer)}</pre>
    </div>
  );
}

function JsonField(props: {
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const { label, value, onChange } = props;
  const [text, setText] = useState(() => JSON.stringify(value, undefined, 2));
  return (
    <Field label={label} fault={value === undefined ? "This is no JSON yet." : undefined}>
      {(control) => (
        <textarea
          {...control}
          className="input"
          rows={Math.min(18, text.split("\n").length + 1)}
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            onChange(readJson(target.value));
          }}
        />
      )}
    </Field>
  );
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
