/** Where records of finished queries go. */
import type { QueryRecord } from "@gateway/contract/record.ts";

export interface History {
  /** Never waits, never fails a query. */
  append(record: QueryRecord): void;
}
