/** Tags of the statements that an embedded engine runs: it lives in this process, so what this process knows is all there is. */
import { onDispose } from "@gateway/core/tool/onDispose.ts";
import type { RunningStatements } from "@gateway/core/port/backend.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { statementTag } from "@gateway/core/query/tag.ts";

export class RunningTags {
  readonly #tags = new Set<string>();

  /** Lists the statement until the result is disposed. */
  begin(query: Pick<Identified, "slot" | "id">): Disposable {
    const tag = statementTag(query);
    this.#tags.add(tag);
    return onDispose(() => void this.#tags.delete(tag));
  }

  list(): RunningStatements {
    return { tags: [...this.#tags], complete: true, delayMs: 0 };
  }
}
