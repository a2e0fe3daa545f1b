/**
 * What queries were whose client got the end with the answer to its POST, for `GET /v1/query/{id}`. Tools ask
 * right behind a statement. No rows and no credential are kept, and no more than some texts.
 */
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { QueryId, Session } from "@gateway/core/query/query.ts";
import type { Progress } from "../machine.ts";

/** How far it came. Times in milliseconds; that in the queue is undefined while it is there. */
interface KnownProgress extends Pick<Progress, "state" | "error"> {
  readonly queueMs: number | undefined;
  readonly executionMs: number;
}

/** What is told of a query. */
export interface QueryFacts extends Pick<Session, "identity" | "catalog" | "schema" | "headers"> {
  readonly id: QueryId;
  readonly sql: string;
  readonly progress: KnownProgress;
  /** Milliseconds since its receipt. */
  readonly elapsedMs: number;
}

/** Queries remembered; further ones take the place of the oldest. */
const countMax = 128;
/** A query with a longer text is not remembered. */
const textLengthMax = 16 * 1024;

export class Recent {
  readonly #facts: QueryFacts[] = [];
  #next = 0;

  put(facts: QueryFacts): void {
    if (facts.sql.length > textLengthMax) return;
    this.#facts[this.#next] = facts;
    this.#next = (this.#next + 1) % countMax;
  }

  /** The query of that id; undefined when it is forgotten or was never known. */
  get(id: QueryId): QueryFacts | undefined {
    return this.#facts.find((facts) => facts.id === id);
  }

  /** The same, for its owner only. */
  of(id: QueryId, asker: AuthContext): QueryFacts | undefined {
    const facts = this.get(id);
    return facts?.identity.user === asker.user ? facts : undefined;
  }

  /** Those of a user, the latest last. */
  ofUser(user: string): readonly QueryFacts[] {
    const [later, older] = [this.#facts.slice(0, this.#next), this.#facts.slice(this.#next)];
    return [...older, ...later].filter((facts) => facts.identity.user === user);
  }
}
