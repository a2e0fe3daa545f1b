/** The whole object as JSON. */
import { useState } from "react";
import { isObject, sameJson, type JsonObject } from "../tool/json.ts";
import { Field } from "../ui/field.tsx";

export function JsonEditor(props: {
  readonly value: JsonObject;
  readonly readOnly: boolean;
  readonly onChange: (value: JsonObject) => void;
}) {
  const { value, readOnly, onChange } = props;
  const [typed, setTyped] = useState<{ readonly text: string; readonly read: unknown }>();
  // What was typed holds as long as it means the value: another's save shows.
  const text =
    typed === undefined || (typed.read !== undefined && !sameJson(typed.read, value))
      ? JSON.stringify(value, undefined, 2)
      : typed.text;
  const broken = typed !== undefined && typed.read === undefined;
  return (
    <Field label="JSON" fault={broken ? "This is no JSON object yet." : undefined}>
      {(control) => (
        <textarea
          {...control}
          className="input"
          rows={Math.min(28, Math.max(8, text.split("\n").length + 1))}
          spellCheck={false}
          readOnly={readOnly}
          value={text}
          onChange={({ target }) => {
            const read = readObject(target.value);
            setTyped({ text: target.value, read });
            if (read !== undefined) onChange(read);
          }}
        />
      )}
    </Field>
  );
}

function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
