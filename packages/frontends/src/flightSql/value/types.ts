/** The fields of a result as clients of Flight SQL want them. */
import type { Column } from "@gateway/core/type/type.ts";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import { fieldOf as plainFieldOf } from "../../arrow/types.ts";

/** The field of a column. Its engine's own name of the type stands in the metadata, where clients of Flight SQL look. */
export function fieldOf(column: Column): ArrowField {
  const field = plainFieldOf(column);
  if (column.engineType === undefined) return field;
  const metadata = new Map(field.metadata).set("ARROW:FLIGHT:SQL:TYPE_NAME", column.engineType);
  return { ...field, metadata };
}
