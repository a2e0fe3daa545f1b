/** Objects, and one of several objects by the property that tells them apart. */
import { useId, useState } from "react";
import { isObject, withAt, type Json, type Path } from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useForm, type ControlOf } from "./context.ts";
import { emptyOf, requiredOf, textAt, type Schema, type UnionOption } from "./schema.ts";

type Properties = Readonly<Record<string, Schema>>;

export function ObjectField(props: ControlOf & { readonly properties: Properties }) {
  const { schema, title, fault, value, path, required, onChange, properties } = props;
  const { readOnly } = useForm();
  const fields = (
    <Fields schema={schema} properties={properties} value={value} path={path} onChange={onChange} />
  );
  // The form's own object has no frame.
  if (path.length === 0) return fields;
  const description = textAt(schema, "description");
  const set = value !== undefined;
  return (
    <fieldset className="nest">
      <legend className="hidden-text">{title}</legend>
      <span className="row apart">
        <span className="group-title" aria-hidden="true">
          {title}
        </span>
        {required || readOnly || typeof path.at(-1) === "number" ? null : (
          <Button small onClick={() => onChange(set ? undefined : {})}>
            {set ? "Remove" : "Set"}
            <span className="hidden-text"> {title}</span>
          </Button>
        )}
      </span>
      {description === undefined ? null : <span className="hint muted small">{description}</span>}
      {fault === undefined ? null : <span className="note bad">{fault}</span>}
      {set || required ? fields : <span className="muted small">Not set.</span>}
    </fieldset>
  );
}

interface FieldsProps {
  readonly schema: Schema;
  readonly properties: Properties;
  readonly value: Json | undefined;
  readonly path: Path;
  readonly onChange: (value: Json | undefined) => void;
  /** Of a union, which has a control of its own. */
  readonly except?: string;
}

function Fields({ schema, properties, value, path, onChange, except }: FieldsProps) {
  const { Part } = useForm();
  const object = isObject(value) ? value : {};
  const required = requiredOf(schema);
  const names = Object.keys(properties).filter((name) => name !== except);
  // Chosen once: a field that is set must not jump away from under the cursor.
  const [first] = useState(
    () => new Set(names.filter((name) => required.has(name) || object[name] !== undefined)),
  );
  const few = names.length <= 4;
  const field = (name: string) => (
    <Part
      key={name}
      name={name}
      schema={properties[name] ?? {}}
      path={[...path, name]}
      value={object[name]}
      required={required.has(name)}
      onChange={(next) => onChange(withAt(object, [name], next))}
    />
  );
  const rest = names.filter((name) => !first.has(name));
  return (
    <>
      {(few ? names : names.filter((name) => first.has(name))).map(field)}
      {few || rest.length === 0 ? null : (
        <details className="more" open={first.size === 0}>
          <summary>{rest.length} more settings</summary>
          <div className="form">{rest.map(field)}</div>
        </details>
      )}
    </>
  );
}

export function UnionField(
  props: ControlOf & { readonly by: string; readonly options: readonly UnionOption[] },
) {
  const { schema, title, fault, value, path, required, onChange, by, options } = props;
  const { readOnly, root } = useForm();
  const object = isObject(value) ? value : undefined;
  const chosen = options.find((option) => option.value === object?.[by]);
  const legendId = useId();
  const select = (
    <Field
      label={path.length === 0 ? discriminatorTitle(options, by) : title}
      hint={chosen?.description ?? textAt(schema, "description")}
      fault={fault}
      required={required}
    >
      {(control) => (
        <select
          {...control}
          className="select narrow"
          disabled={readOnly}
          value={chosen?.value ?? ""}
          onChange={({ target }) => onChange(chosenOf(target.value, { by, object, options, root }))}
        >
          {required && chosen !== undefined ? null : <option value="">Not set</option>}
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={!option.built}>
              {option.built ? option.title : `${option.title} (not built)`}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  if (chosen === undefined) return select;
  const properties = (chosen.schema["properties"] ?? {}) as Properties;
  const fields = (
    <Fields
      // Another option has other fields first.
      key={chosen.value}
      schema={chosen.schema}
      properties={properties}
      value={value}
      path={path}
      onChange={onChange}
      except={by}
    />
  );
  if (path.length === 0 || Object.keys(properties).length <= 1) {
    return (
      <>
        {select}
        {fields}
      </>
    );
  }
  return (
    <div className="nest" role="group" aria-labelledby={legendId}>
      <span id={legendId} className="hidden-text">
        {title}
      </span>
      {select}
      {fields}
    </div>
  );
}

/** `Engine`, from the property itself; its name where it has no title. */
function discriminatorTitle(options: readonly UnionOption[], by: string): string {
  const properties = options[0]?.schema["properties"];
  const property = isObject(properties) ? properties[by] : undefined;
  return (isObject(property) ? textAt(property, "title") : undefined) ?? by;
}

interface Choice {
  readonly by: string;
  readonly object: Readonly<Record<string, Json>> | undefined;
  readonly options: readonly UnionOption[];
  readonly root: Schema;
}

/** What both options know stays; what the new one requires begins empty. */
function chosenOf(value: string, { by, object, options, root }: Choice): Json | undefined {
  const option = options.find((each) => each.value === value);
  if (option === undefined) return undefined;
  const properties = (option.schema["properties"] ?? {}) as Properties;
  const next: Record<string, Json> = { [by]: value };
  for (const [name, property] of Object.entries(properties)) {
    if (name === by) continue;
    const kept = object?.[name];
    if (kept !== undefined) next[name] = kept;
    else if (requiredOf(option.schema).has(name) && isNested(property)) {
      next[name] = emptyOf(property, root);
    }
  }
  return next;
}

function isNested(schema: Schema): boolean {
  return schema["type"] === "object" || schema["type"] === "array" || schema["$ref"] !== undefined;
}
