/**
 * What stays of a statement whose last answer was given: that answer, for a poll that repeats it, and what it was, for
 * people who ask. A thousand times a second one ends, and the collector of garbage copies what stays of each twice; so
 * it is made anew, of few objects and flat texts, and the statement with its query is let go.
 */
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import type { LinkedQuery } from "../page/handles.ts";
import { Holder } from "../page/holder.ts";
import { pageBytes, type Page } from "../page/page.ts";
import type { QueryFacts } from "../page/recent.ts";
import type { PolledStatement } from "./polledStatement.ts";

/** A statement, begun or ended. */
export type Statement = PolledStatement | EndedStatement;

/** Longer texts are flattened by themselves. */
const scratch = Buffer.allocUnsafeSlow(16 * 1024);
const bytesOfLetterMax = 3;

export class EndedStatement {
  readonly linked: LinkedQuery;
  readonly facts: QueryFacts;
  readonly #page: Page;

  /** `page`: the last one. */
  constructor(linked: LinkedQuery, facts: QueryFacts, page: Page) {
    this.linked = linked;
    this.facts = facts;
    this.#page = kept(page);
  }

  get id(): QueryId {
    return this.facts.id;
  }

  get owner(): AuthContext {
    return this.facts.identity;
  }

  get retainedBytes(): number {
    return pageBytes(this.#page);
  }

  get over(): true {
    return true;
  }

  /** Told by the status of the answer to its POST, which is past. */
  get refusal(): undefined {
    return undefined;
  }

  /** The answer of that number; undefined for every number but that of the last. */
  answer(token: number): Promise<Page | undefined> {
    return Promise.resolve(token === this.#page.token ? this.#page : undefined);
  }

  /** A request waits here, for no time; its leave changes nothing. */
  hold(): Holder {
    return new Holder(nobody);
  }

  /** Nothing of it is left to end. */
  cancel(): void {}

  /** Nothing of it is left to end. */
  endEarly(): void {}

  /** Nothing of it is left to end. */
  discard(): Promise<void> {
    return Promise.resolve();
  }
}

const nobody = { released: () => {} };

/** The same answer of fewer pieces: what stands around its rows, and the rows where they are text, is one text. */
function kept({ token, columns, data, tail, headers }: Page): Page {
  if (data !== undefined && typeof data !== "string") {
    return { token, next: undefined, columns: flat(columns), data, tail: flat(tail), headers };
  }
  const text = flat(columns + (data ?? "") + tail);
  return { token, next: undefined, columns: "", data: undefined, tail: text, headers };
}

/** A text that was put together from pieces keeps them all; one that is read from bytes is only itself. */
function flat(text: string): string {
  if (text.length * bytesOfLetterMax > scratch.length) return Buffer.from(text).toString();
  return scratch.toString("utf8", 0, scratch.write(text));
}
