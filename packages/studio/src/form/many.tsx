/** Lists and maps: entries that are added, changed, moved and taken away. */
import { useId, useState, type ReactNode } from "react";
import { isObject, type Json } from "../tool/json.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useForm, type ControlOf } from "./context.ts";
import { emptyOf, kindOf, textAt, titleOf, type Schema } from "./schema.ts";

function Frame(props: {
  readonly control: ControlOf;
  readonly children: ReactNode;
  readonly onAdd: () => void;
  readonly addText: string;
}) {
  const { control, children, onAdd, addText } = props;
  const { schema, title, fault, required } = control;
  const { readOnly } = useForm();
  const id = useId();
  const description = textAt(schema, "description");
  return (
    <div className="field" role="group" aria-labelledby={id}>
      <span className="label" id={id}>
        {title}
        {required ? <span className="unit"> (required)</span> : null}
      </span>
      {description === undefined ? null : <span className="hint">{description}</span>}
      {fault === undefined ? null : <span className="fault">{fault}</span>}
      <div className="entries">{children}</div>
      {readOnly ? null : (
        <span>
          <Button small icon="plus" onClick={onAdd}>
            {addText}
          </Button>
        </span>
      )}
    </div>
  );
}

export function ListField(props: ControlOf & { readonly items: Schema }) {
  const { value, path, onChange, items, title, required } = props;
  const { readOnly, root, Part } = useForm();
  const list = Array.isArray(value) ? (value as readonly Json[]) : [];
  // An empty list that nobody has to write says nothing; a written one may say: nobody.
  const set = (next: readonly Json[]): void =>
    onChange(next.length === 0 && !required ? undefined : next);
  const itemTitle = titleOf(items, "entry");
  const short = isShort(items, root);
  return (
    <Frame
      control={props}
      addText={`Add ${insideSentence(itemTitle)}`}
      onAdd={() => onChange([...list, emptyOf(items, root)])}
    >
      {list.map((item, at) => (
        // Entries have no name but their place.
        <div className="entry" key={at}>
          <div className="grow">
            <Part
              name={short ? `${title} ${at + 1}` : "entry"}
              schema={short ? { ...items, title: `${title} ${at + 1}` } : items}
              path={[...path, at]}
              value={item}
              required
              onChange={(next) => set(list.with(at, next ?? emptyOf(items, root)))}
            />
          </div>
          {readOnly ? null : (
            <IconButton
              icon="trash"
              name={`Remove ${title} ${at + 1}`}
              onClick={() => set(list.toSpliced(at, 1))}
            />
          )}
        </div>
      ))}
    </Frame>
  );
}

function isShort(schema: Schema, root: Schema): boolean {
  const { kind } = kindOf(schema, root);
  return kind === "text" || kind === "choice" || kind === "number";
}

export function MapField(props: ControlOf & { readonly values: Schema }) {
  const { value, path, onChange, values, title, required } = props;
  const { readOnly, root, Part } = useForm();
  const map = isObject(value) ? value : {};
  const entries = Object.entries(map);
  const set = (next: readonly (readonly [string, Json])[]): void =>
    onChange(next.length === 0 && !required ? undefined : Object.fromEntries(next));
  return (
    <Frame
      control={props}
      addText="Add entry"
      onAdd={() => onChange({ ...map, [freeKey(map)]: emptyOf(values, root) })}
    >
      {entries.map(([key, entry], at) => (
        // A key changes while it is typed; the place stays.
        <div className="entry" key={at}>
          <KeyInput
            title={`${title}: name ${at + 1}`}
            value={key}
            taken={entries.map(([each]) => each).filter((each) => each !== key)}
            onChange={(next) => set(entries.with(at, [next, entry]))}
          />
          <div className="grow">
            <Part
              name="value"
              schema={{ ...values, title: textAt(values, "title") ?? `Value of ${key}` }}
              path={[...path, key]}
              value={entry}
              required
              onChange={(next) => set(entries.with(at, [key, next ?? emptyOf(values, root)]))}
            />
          </div>
          {readOnly ? null : (
            <IconButton
              icon="trash"
              name={`Remove ${key}`}
              onClick={() => set(entries.toSpliced(at, 1))}
            />
          )}
        </div>
      ))}
    </Frame>
  );
}

function freeKey(map: Readonly<Record<string, Json>>): string {
  for (let number = 1; ; number += 1) {
    const key = `name${number}`;
    if (!Object.hasOwn(map, key)) return key;
  }
}

/** Taken over when it is left, and only where no other entry has it. */
function KeyInput(props: {
  readonly title: string;
  readonly value: string;
  readonly taken: readonly string[];
  readonly onChange: (value: string) => void;
}) {
  const { title, value, taken, onChange } = props;
  const { readOnly } = useForm();
  const [typed, setTyped] = useState<string>();
  const id = useId();
  const refused = typed !== undefined && (typed === "" || taken.includes(typed));
  return (
    <div className="field">
      <label htmlFor={id}>
        Name<span className="hidden-text"> ({title})</span>
      </label>
      <input
        id={id}
        className="input"
        value={typed ?? value}
        disabled={readOnly}
        spellCheck={false}
        aria-invalid={refused || undefined}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => {
          if (typed !== undefined && !refused) onChange(typed);
          setTyped(undefined);
        }}
      />
    </div>
  );
}

/** `Entry` becomes `entry`, `SQL rule` stays. */
function insideSentence(title: string): string {
  return /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
