/** How transactions that a client asked for are said to the server. */
import type { NextTransaction } from "@gateway/core/query/mysqlCall.ts";
import type { Query } from "@gateway/core/query/query.ts";

/** A client's BEGIN. */
export function beginSql({ statement: { modes } }: Pick<Query, "statement">): string {
  const characteristics = [
    ...(modes.consistentSnapshot ? ["WITH CONSISTENT SNAPSHOT"] : []),
    ...accessOf(modes),
  ];
  return characteristics.length === 0 ? "BEGIN" : `START TRANSACTION ${characteristics.join(", ")}`;
}

/** Of the next transaction on the connection alone. */
export function nextSql(next: NextTransaction): string {
  const { isolation } = next;
  const level = isolation === undefined ? [] : [`ISOLATION LEVEL ${levels[isolation]}`];
  return `SET TRANSACTION ${[...level, ...accessOf(next)].join(", ")}`;
}

/** Said also where it is what a session has by itself: its own may be the other one. */
function accessOf({ readOnly }: Pick<NextTransaction, "readOnly">): readonly string[] {
  return readOnly === undefined ? [] : [readOnly ? "READ ONLY" : "READ WRITE"];
}

const levels = {
  readUncommitted: "READ UNCOMMITTED",
  readCommitted: "READ COMMITTED",
  repeatableRead: "REPEATABLE READ",
  serializable: "SERIALIZABLE",
} as const satisfies Record<NonNullable<NextTransaction["isolation"]>, string>;
