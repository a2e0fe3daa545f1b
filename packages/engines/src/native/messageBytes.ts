/** How large the messages of a result are, from what its client's protocol takes. */
import type { Query } from "@gateway/core/query/query.ts";

/** A message that is passed on as it is costs the same whatever it holds. */
const largeBytes = 1 << 20;

/** Bytes for `StatementRequest`; undefined unless the messages themselves are wanted. */
export function messageBytesOf({ takes }: Pick<Query, "takes">): number | undefined {
  return takes.includes("arrowMessages") ? largeBytes : undefined;
}
