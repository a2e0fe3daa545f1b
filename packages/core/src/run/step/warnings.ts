/** What guards that only warn tell the client. */
import { warningCode, type ResultEvent } from "../../query/event.ts";
import type { Guarded } from "../../query/query.ts";

export function* warningsOf({
  warnings,
}: Pick<Guarded, "warnings">): Generator<ResultEvent, void, unknown> {
  for (const text of warnings) yield { kind: "notice", code: warningCode, text };
}
