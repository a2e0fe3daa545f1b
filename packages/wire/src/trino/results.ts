/**
 * The JSON documents of Trino's client protocol, as types, and the two smallest of them as text.
 *
 * Fields are those that the Java, Python, Go and JavaScript clients read. Shapes were taken from the
 * answers of Trino 476.
 */

/** A type in the form clients decode by. Arguments: lengths and precisions, item types, named fields. */
export interface TypeSignature {
  readonly rawType: string;
  readonly arguments: readonly TypeArgument[];
}

export type TypeArgument =
  | { readonly kind: "LONG"; readonly value: number }
  | { readonly kind: "TYPE"; readonly value: TypeSignature }
  | { readonly kind: "NAMED_TYPE"; readonly value: NamedType };

export interface NamedType {
  /** Absent for a field without a name. */
  readonly fieldName?: { readonly name: string };
  readonly typeSignature: TypeSignature;
}

export interface ResultColumn {
  readonly name: string;
  /** The type as people read it: `decimal(12, 2)`. */
  readonly type: string;
  readonly typeSignature: TypeSignature;
}

export type StatementState =
  | "QUEUED"
  | "WAITING_FOR_RESOURCES"
  | "DISPATCHING"
  | "PLANNING"
  | "STARTING"
  | "RUNNING"
  | "FINISHING"
  | "FINISHED"
  | "FAILED";

/** Progress. Clients fail when one of the fields without `?` is missing. */
export interface StatementStats {
  readonly state: StatementState;
  readonly queued: boolean;
  readonly scheduled: boolean;
  readonly progressPercentage?: number;
  readonly runningPercentage?: number;
  readonly nodes: number;
  readonly totalSplits: number;
  readonly queuedSplits: number;
  readonly runningSplits: number;
  readonly completedSplits: number;
  readonly planningTimeMillis: number;
  readonly analysisTimeMillis: number;
  readonly cpuTimeMillis: number;
  readonly wallTimeMillis: number;
  readonly queuedTimeMillis: number;
  readonly elapsedTimeMillis: number;
  readonly finishingTimeMillis: number;
  readonly physicalInputTimeMillis: number;
  readonly processedRows: number;
  readonly processedBytes: number;
  readonly physicalInputBytes: number;
  readonly physicalWrittenBytes: number;
  readonly internalNetworkInputBytes: number;
  readonly peakMemoryBytes: number;
  readonly spilledBytes: number;
}

export type ErrorType = "USER_ERROR" | "INTERNAL_ERROR" | "INSUFFICIENT_RESOURCES" | "EXTERNAL";

export interface QueryError {
  readonly message: string;
  readonly errorCode: number;
  readonly errorName: string;
  readonly errorType: ErrorType;
  /** Lines and columns count from 1. */
  readonly errorLocation?: { readonly lineNumber: number; readonly columnNumber: number };
  readonly failureInfo: FailureInfo;
}

/** Clients print it; Java's rebuild an exception from it. */
export interface FailureInfo {
  readonly type: string;
  readonly message: string;
  readonly suppressed: readonly FailureInfo[];
  readonly stack: readonly string[];
}

export interface Warning {
  readonly warningCode: { readonly code: number; readonly name: string };
  readonly message: string;
}

/** One answer. Without `nextUri` it is the last one. */
export interface QueryResults {
  readonly id: string;
  readonly infoUri: string;
  readonly partialCancelUri?: string;
  readonly nextUri?: string;
  readonly columns?: readonly ResultColumn[];
  readonly data?: readonly (readonly unknown[])[];
  readonly stats: StatementStats;
  readonly error?: QueryError;
  readonly warnings: readonly Warning[];
  readonly updateType?: string;
  readonly updateCount?: number;
}

export interface ServerInfo {
  readonly nodeVersion: { readonly version: string };
  readonly environment: string;
  readonly coordinator: boolean;
  readonly starting: boolean;
  /** A duration as Trino writes them: `46.68s`, `3.20m`, `2.50d`. */
  readonly uptime: string;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** A duration in its largest unit that is at least one, with two digits behind the point. */
export function durationText(ms: number): string {
  for (const [unit, unitMs] of units) {
    if (ms >= unitMs) return `${(ms / unitMs).toFixed(2)}${unit}`;
  }
  return `${ms.toFixed(2)}ms`;
}

const unitsMs: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["ms", 1],
  ...units,
]);

/** Milliseconds of a duration as Trino writes them; undefined for anything else. The inverse of `durationText` but for its rounding. */
export function durationMs(text: string): number | undefined {
  const [, count = "", unit = ""] =
    /^\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-z]{1,2})\s*$/.exec(text) ?? [];
  const unitMs = unitsMs.get(unit);
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}
