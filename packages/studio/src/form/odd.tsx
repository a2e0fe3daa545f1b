/** Secrets, which come as `{set: true}` and never as themselves, and what no other control fits. */
import { useId, useState } from "react";
import { isObject, jsonText, type Json } from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useForm, type ControlOf } from "./context.ts";
import { textAt } from "./schema.ts";

export function SecretField(props: ControlOf) {
  const { schema, title, value, required, onChange } = props;
  const { readOnly } = useForm();
  const [before, setBefore] = useState<Json>();
  if (isObject(value) && value["set"] === true) {
    return (
      <div className="field">
        <span className="label">{title}</span>
        <span className="row">
          <span className="badge ok">set</span>
          {readOnly ? null : (
            <Button
              small
              onClick={() => {
                setBefore(value);
                onChange("");
              }}
            >
              Replace<span className="hidden-text"> {title}</span>
            </Button>
          )}
          {required || readOnly ? null : (
            <Button small kind="quiet" onClick={() => onChange(undefined)}>
              Remove<span className="hidden-text"> {title}</span>
            </Button>
          )}
        </span>
        <span className="hint">{textAt(schema, "description")} It is never shown again.</span>
      </div>
    );
  }
  return (
    <NewSecret {...props} onKeep={before === undefined ? undefined : () => onChange(before)} />
  );
}

function NewSecret(props: ControlOf & { readonly onKeep: (() => void) | undefined }) {
  const { schema, title, fault, value, required, onChange, onKeep } = props;
  const { readOnly } = useForm();
  const reference = isObject(value) ? textAt(value, "secretRef") : undefined;
  const byReference = reference !== undefined;
  const kindId = useId();
  return (
    <Field label={title} hint={textAt(schema, "description")} fault={fault} required={required}>
      {(control) => (
        <span className="row">
          <label className="hidden-text" htmlFor={kindId}>
            How {title} is given
          </label>
          <select
            id={kindId}
            className="select narrow"
            disabled={readOnly}
            value={byReference ? "reference" : "value"}
            onChange={({ target }) =>
              onChange(target.value === "reference" ? { secretRef: "env:GATEWAY_SECRET_" } : "")
            }
          >
            <option value="value">As a value</option>
            <option value="reference">From env: or file:</option>
          </select>
          <input
            {...control}
            className="input narrow"
            type={byReference ? "text" : "password"}
            autoComplete="new-password"
            spellCheck={false}
            disabled={readOnly}
            value={byReference ? reference : typeof value === "string" ? value : ""}
            onChange={({ target }) =>
              onChange(byReference ? { secretRef: target.value } : valueOf(target.value, required))
            }
          />
          {onKeep === undefined ? null : (
            <Button small kind="quiet" onClick={onKeep}>
              Keep the old one
            </Button>
          )}
        </span>
      )}
    </Field>
  );
}

function valueOf(text: string, required: boolean): string | undefined {
  return text === "" && !required ? undefined : text;
}

/** As JSON, for what a form can not show. */
export function JsonField({ schema, title, fault, value, required, onChange }: ControlOf) {
  const { readOnly } = useForm();
  const [typed, setTyped] = useState<string>();
  const [broken, setBroken] = useState(false);
  const change = (text: string): void => {
    setTyped(text);
    if (text.trim() === "") {
      setBroken(false);
      return onChange(undefined);
    }
    try {
      onChange(JSON.parse(text) as Json);
      setBroken(false);
    } catch {
      setBroken(true);
    }
  };
  return (
    <Field
      label={`${title} (JSON)`}
      hint={textAt(schema, "description")}
      fault={broken ? "This is no JSON yet." : fault}
      required={required}
    >
      {(control) => (
        <textarea
          {...control}
          className="input"
          spellCheck={false}
          disabled={readOnly}
          value={typed ?? jsonText(value)}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Field>
  );
}
