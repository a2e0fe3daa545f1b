/** Texts, numbers, choices and switches. Empty means: not set, so that the default holds. */
import { useId, useState } from "react";
import type { Path } from "../tool/json.ts";
import { Field } from "../ui/field.tsx";
import { useForm, type ControlOf } from "./context.ts";
import { placeholderOf, textAt } from "./schema.ts";

export function TextField(
  props: ControlOf & { readonly suggestions: readonly string[]; readonly nullable: boolean },
) {
  const { schema, title, fault, value, required, onChange, path, nullable } = props;
  const { readOnly, suggest } = useForm();
  const listId = useId();
  const suggestions = suggest(schema, path) ?? props.suggestions;
  return (
    <Field
      label={title}
      hint={textAt(schema, "description")}
      fault={fault}
      required={required}
      bare={isEntry(path)}
    >
      {(control) => (
        <>
          <input
            {...control}
            className="input"
            value={typeof value === "string" ? value : ""}
            placeholder={nullable && value === null ? "any" : placeholderOf(schema)}
            disabled={readOnly}
            list={suggestions.length === 0 ? undefined : listId}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => onChange(emptied(target.value, required, nullable))}
          />
          {suggestions.length === 0 ? null : (
            <datalist id={listId}>
              {suggestions.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

/** Of a list, which shows what its entries are. */
function isEntry(path: Path): boolean {
  return typeof path.at(-1) === "number";
}

function emptied(text: string, required: boolean, nullable: boolean): string | null | undefined {
  if (text !== "") return text;
  if (nullable) return null;
  return required ? "" : undefined;
}

export function NumberField({ schema, title, fault, value, required, onChange, path }: ControlOf) {
  const { readOnly } = useForm();
  // What is typed is no number all the time: `-`, `1e`.
  const [typed, setTyped] = useState<string>();
  return (
    <Field
      label={title}
      unit={textAt(schema, "x-unit")}
      hint={textAt(schema, "description")}
      fault={typed === undefined ? fault : "This is no number."}
      required={required}
      bare={isEntry(path)}
    >
      {(control) => (
        <input
          {...control}
          className="input narrow"
          inputMode="decimal"
          value={typed ?? (typeof value === "number" ? String(value) : "")}
          placeholder={placeholderOf(schema)}
          disabled={readOnly}
          autoComplete="off"
          onChange={({ target }) => {
            const text = target.value.trim();
            const number = Number(text);
            const readable = Number.isFinite(number);
            // `1.` is a number on its way to another one.
            const whole = readable && !text.endsWith(".");
            setTyped(whole ? undefined : target.value);
            if (readable) onChange(text === "" ? undefined : number);
          }}
        />
      )}
    </Field>
  );
}

export function ChoiceField(props: ControlOf & { readonly values: readonly string[] }) {
  const { schema, title, fault, value, required, onChange, values, path } = props;
  const { readOnly } = useForm();
  const standard = textAt(schema, "default");
  return (
    <Field
      label={title}
      hint={textAt(schema, "description")}
      fault={fault}
      required={required}
      bare={isEntry(path)}
    >
      {(control) => (
        <select
          {...control}
          className="select narrow"
          value={typeof value === "string" ? value : ""}
          disabled={readOnly}
          onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
        >
          {required && value !== undefined ? null : (
            <option value="">{standard === undefined ? "Not set" : `${standard} (default)`}</option>
          )}
          {values.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function BooleanField({ schema, title, fault, value, onChange }: ControlOf) {
  const { readOnly } = useForm();
  const id = useId();
  const shown = typeof value === "boolean" ? value : schema["default"] === true;
  const description = textAt(schema, "description");
  return (
    <div className="field">
      <span className="choice">
        <input
          id={id}
          type="checkbox"
          checked={shown}
          disabled={readOnly}
          aria-describedby={description === undefined ? undefined : `${id}-hint`}
          onChange={({ target }) => onChange(target.checked)}
        />
        <label htmlFor={id}>{title}</label>
      </span>
      {fault === undefined ? null : <span className="fault">{fault}</span>}
      {description === undefined ? null : (
        <span className="hint" id={`${id}-hint`}>
          {description}
        </span>
      )}
    </div>
  );
}
