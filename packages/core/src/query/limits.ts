/** What a group allows each of its queries; undefined means no limit. Times in milliseconds. */
export interface QueryLimits {
  readonly maxExecutionMs: number | undefined;
  readonly maxRows: number | undefined;
  /** Longest life of a transaction; absent means none. */
  readonly maxTransactionMs?: number | undefined;
}
