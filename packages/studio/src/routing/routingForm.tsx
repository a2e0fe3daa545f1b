/** Rules as a list that is ordered by dragging or with buttons, each a form of its own schema. */
import { useEffect, useMemo, useRef, useState } from "react";
import { FormContext, type FormContextValue } from "../form/context.ts";
import { emptyOf, resolved, type Schema } from "../form/schema.ts";
import { SchemaField } from "../form/schemaField.tsx";
import { isObject, withAt, type Json } from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/state.tsx";
import type { FormEdit } from "../write/objectEditor.tsx";
import { Rule } from "./rule.tsx";

export function RoutingForm(props: {
  readonly edit: FormEdit;
  readonly schema: Schema;
  readonly suggest: FormContextValue["suggest"];
  /** Begins with the last rule opened. */
  readonly lastOpen: boolean;
}) {
  const { edit, schema, suggest, lastOpen } = props;
  const { value, onChange, readOnly, faults } = edit;
  const context = useMemo(
    () => ({
      Part: SchemaField,
      root: schema,
      readOnly,
      faults: new Map(faults.map(({ path, reason }) => [path, reason])),
      suggest,
    }),
    [schema, readOnly, faults, suggest],
  );
  const list = value["routers"];
  const routers = Array.isArray(list) ? (list as readonly Json[]) : [];
  const set = (next: readonly Json[]): void =>
    onChange(
      (withAt(value, ["routers"], next.length === 0 ? undefined : next) ?? {}) as typeof value,
    );
  return (
    <FormContext value={context}>
      <Rules
        routers={routers}
        schema={ruleSchema(schema)}
        onChange={set}
        readOnly={readOnly}
        lastOpen={lastOpen}
      />
      <div className="form">
        <SchemaField
          name="routingFallback"
          schema={propertyOf(schema, "routingFallback")}
          path={["routingFallback"]}
          value={value["routingFallback"]}
          required={false}
          onChange={(next) =>
            onChange((withAt(value, ["routingFallback"], next) ?? {}) as typeof value)
          }
        />
      </div>
    </FormContext>
  );
}

function propertyOf(schema: Schema, name: string): Schema {
  const properties = schema["properties"];
  const property = isObject(properties) ? properties[name] : undefined;
  return isObject(property) ? property : {};
}

function ruleSchema(schema: Schema): Schema {
  const { items } = propertyOf(schema, "routers");
  return isObject(items) ? resolved(items, schema) : {};
}

/** A rule that is moved by a key takes the focus along, so that it can be moved on. */
function useFocusThatFollows(routers: readonly Json[]) {
  const list = useRef<HTMLOListElement>(null);
  const moved = useRef<{ readonly to: number; readonly way: "up" | "down" }>(undefined);
  useEffect(() => {
    if (moved.current === undefined) return;
    const { to, way } = moved.current;
    moved.current = undefined;
    const button = (name: string) =>
      list.current?.querySelector<HTMLButtonElement>(
        `button[aria-label="Move rule ${to + 1} ${name}"]:enabled`,
      );
    (button(way) ?? button(way === "up" ? "down" : "up"))?.focus();
  }, [routers]);
  const follow = (to: number, way: "up" | "down"): void => {
    moved.current = { to, way };
  };
  return { list, follow };
}

function Rules(props: {
  readonly routers: readonly Json[];
  readonly schema: Schema;
  readonly readOnly: boolean;
  readonly lastOpen: boolean;
  readonly onChange: (routers: readonly Json[]) => void;
}) {
  const { routers, schema, readOnly, lastOpen, onChange } = props;
  const [open, setOpen] = useState(lastOpen ? routers.length - 1 : undefined);
  const [dragged, setDragged] = useState<number>();
  const move = (from: number, to: number): void => {
    const moved = routers[from];
    if (moved === undefined || to < 0 || to >= routers.length) return;
    onChange(routers.toSpliced(from, 1).toSpliced(to, 0, moved));
    setOpen(undefined);
  };
  const { list, follow } = useFocusThatFollows(routers);
  return (
    <>
      {routers.length === 0 ? (
        <Empty title="No rule">Every query goes to the fallback.</Empty>
      ) : (
        <ol className="rules" ref={list}>
          {routers.map((router, at) => (
            <Rule
              // Rules have no name but their place.
              key={`${at} of ${routers.length}`}
              router={router}
              place={at}
              last={at === routers.length - 1}
              schema={schema}
              readOnly={readOnly}
              open={open === at}
              dragged={dragged}
              onOpen={() => setOpen(open === at ? undefined : at)}
              onChange={(next) => onChange(routers.with(at, next))}
              onRemove={() => {
                setOpen(undefined);
                onChange(routers.toSpliced(at, 1));
              }}
              onMove={(to) => {
                follow(to, to < at ? "up" : "down");
                move(at, to);
              }}
              onDrag={setDragged}
              onDrop={() => {
                if (dragged !== undefined) move(dragged, at);
                setDragged(undefined);
              }}
            />
          ))}
        </ol>
      )}
      {readOnly ? null : (
        <span>
          <Button
            icon="plus"
            onClick={() => {
              onChange([...routers, emptyOf(schema, schema)]);
              setOpen(routers.length);
            }}
          >
            Add a rule
          </Button>
        </span>
      )}
    </>
  );
}
