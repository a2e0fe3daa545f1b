/** A form from a JSON Schema. What is required or set stands first; the rest is one step away. */
import { useMemo } from "react";
import type { Fault } from "../api/shapes.ts";
import type { Json, JsonObject, Path } from "../tool/json.ts";
import { FormContext, type FormContextValue } from "./context.ts";
import { SchemaField } from "./schemaField.tsx";
import type { Schema } from "./schema.ts";

export interface SchemaFormProps {
  readonly schema: Schema;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  readonly readOnly: boolean;
  readonly faults: readonly Fault[];
  /** How the API begins the paths of this object: `clusters.main.` */
  readonly prefix: string;
  readonly suggest?: FormContextValue["suggest"];
}

const nothing = (): undefined => undefined;

export function SchemaForm(props: SchemaFormProps) {
  const { schema, value, onChange, readOnly, faults, prefix, suggest = nothing } = props;
  const context = useMemo(
    () => ({ Part: SchemaField, root: schema, readOnly, faults: byPath(faults, prefix), suggest }),
    [schema, readOnly, faults, prefix, suggest],
  );
  return (
    <FormContext value={context}>
      <div className="form">
        <SchemaField
          schema={schema}
          path={root}
          name=""
          value={value}
          required
          onChange={(next: Json | undefined) => onChange((next ?? {}) as JsonObject)}
        />
      </div>
    </FormContext>
  );
}

const root: Path = [];

function byPath(faults: readonly Fault[], prefix: string): ReadonlyMap<string, string> {
  return new Map(
    faults
      .filter(({ path }) => path.startsWith(prefix))
      .map(({ path, reason }) => [path.slice(prefix.length), reason]),
  );
}
