/** Where records of finished queries go. */
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { QueryId } from "../query/query.ts";

export interface History {
  /**
   * A query was opened, and no engine has seen it yet: one `append` follows. For a history that must
   * count what is lost with its process. Never waits, never fails a query.
   */
  begin?(queryId: QueryId): void;
  /** Never waits, never fails a query. */
  append(record: QueryRecord): void;
}
