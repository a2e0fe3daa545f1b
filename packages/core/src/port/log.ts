/** Structured log lines. One event, one line; no SQL, no credential, no foreign error text in a field. */
export type LogLevel = "debug" | "info" | "warn" | "error";

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  /** `event` is a code in camelCase with dots (`cluster.ejected`), not prose. */
  write(level: LogLevel, event: string, fields?: LogFields): void;
  /** Logs a bug with its stack and counts it. */
  bug(error: unknown, fields?: LogFields): void;
}
