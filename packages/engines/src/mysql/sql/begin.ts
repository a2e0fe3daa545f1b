/** How a client's BEGIN is said to the server. */
import type { Query } from "@gateway/core/query/query.ts";

export function beginSql({ statement: { modes } }: Pick<Query, "statement">): string {
  const characteristics = [
    ...(modes.consistentSnapshot ? ["WITH CONSISTENT SNAPSHOT"] : []),
    ...(modes.readOnly === true ? ["READ ONLY"] : []),
  ];
  return characteristics.length === 0 ? "BEGIN" : `START TRANSACTION ${characteristics.join(", ")}`;
}
