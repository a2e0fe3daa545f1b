/** One field of a form by its schema; the parts of an object, a list or a union are fields again. */
import { isObject, type Json } from "../tool/json.ts";
import { faultPath, useForm, type ControlOf, type FieldOf } from "./context.ts";
import { JsonField, SecretField } from "./odd.tsx";
import { ListField, MapField } from "./many.tsx";
import { ObjectField, UnionField } from "./nested.tsx";
import { BooleanField, ChoiceField, NumberField, TextField } from "./plain.tsx";
import { kindOf, resolved, titleOf } from "./schema.ts";

export function SchemaField(field: FieldOf) {
  const { root, faults } = useForm();
  const schema = resolved(field.schema, root);
  const kind = kindOf(schema, root);
  const control: ControlOf = {
    ...field,
    schema,
    title: titleOf(schema, field.name),
    fault: faults.get(faultPath(field.path)),
  };
  // What somebody wrote in another shape than the schema's is shown as it is, and not as empty.
  if (!fits(kind.kind, field.value)) return <JsonField {...control} />;
  switch (kind.kind) {
    case "object":
      return <ObjectField {...control} properties={kind.properties} />;
    case "union":
      return <UnionField {...control} by={kind.by} options={kind.options} />;
    case "map":
      return <MapField {...control} values={kind.values} />;
    case "list":
      return <ListField {...control} items={kind.items} />;
    case "choice":
      return <ChoiceField {...control} values={kind.values} />;
    case "text":
      return <TextField {...control} suggestions={kind.suggestions} nullable={kind.nullable} />;
    case "number":
      return <NumberField {...control} />;
    case "boolean":
      return <BooleanField {...control} />;
    case "secret":
      return <SecretField {...control} />;
    case "const":
      return null;
    case "json":
      return <JsonField {...control} />;
  }
}

function fits(kind: string, value: Json | undefined): boolean {
  if (value === undefined) return true;
  switch (kind) {
    case "object":
    case "union":
    case "map":
      return isObject(value);
    case "list":
      return Array.isArray(value);
    case "choice":
      return typeof value === "string";
    case "text":
      return typeof value === "string" || value === null;
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    default:
      return true;
  }
}
