/** What remains of a finished query. One per proxy query id. */
export type QueryStatus = "finished" | "failed" | "cancelled" | "denied";

/** One stage's decision, in order, for `explain`. */
export interface RoutingStep {
  /** The router's type and place in the list (`queryRegex[2]`), or the stage (`fallback`, `capacity`, `attempt`). */
  readonly step: string;
  readonly outcome: string;
}

/** Times are Unix milliseconds, durations milliseconds. Text fields are subject to redaction before they leave the process. */
export interface QueryRecord {
  readonly proxyQueryId: string;
  readonly backendQueryId: string | undefined;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly finishedAt: number;
  readonly worker: string | undefined;
  readonly frontend: string;
  readonly user: string;
  readonly clientAddress: string;
  readonly clusterGroup: string | undefined;
  readonly cluster: string | undefined;
  readonly engine: string | undefined;
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly sql: string;
  /** How the client's SQL is read: `postgres`, `mysql`, `trino`, … */
  readonly sourceDialect: string;
  readonly status: QueryStatus;
  readonly errorCode: string | undefined;
  readonly errorMessage: string | undefined;
  readonly rowsReturned: number;
  readonly bytesReturned: number;
  readonly queueMs: number;
  readonly executionMs: number;
  readonly backendIdentityMode: string | undefined;
  readonly enginePrincipal: string | undefined;
  readonly routingTrace: readonly RoutingStep[];
  readonly revision: string;
}
