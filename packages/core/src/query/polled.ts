/**
 * A query whose client asks for the next piece again and again over separate requests.
 *
 * The generator is parked between the requests. Nobody asking for `abandonAfterMs` ends it; after its
 * end it stays for `keepMs`, so that a repeated last poll gets the same answer.
 */
import type { AuthContext } from "../port/authenticator.ts";
import type { ResultEvent } from "./event.ts";
import type { Query } from "./query.ts";

export interface PolledQuery {
  readonly query: Query;
  readonly owner: AuthContext;
  /**
   * The next event, or undefined when none came within `waitMs` (progress can be shown) or after the
   * last one. One call at a time. Aborting `signal` (the client hung up) cancels the query.
   */
  next(waitMs: number, signal: AbortSignal): Promise<ResultEvent | undefined>;
  /** Ends the query as the client's wish; its last event is `failed: query.cancelled` unless it is over already. */
  cancel(): void;
}
