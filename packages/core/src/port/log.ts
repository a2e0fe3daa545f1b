/** Structured log lines. One event, one line; no SQL, no credential, no foreign error text in a field. */
export type LogLevel = "debug" | "info" | "warn" | "error";

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  /** `event` is a code in camelCase with dots (`cluster.ejected`), not prose. */
  write(level: LogLevel, event: string, fields?: LogFields): void;
  /** The same of fields that are JSON members already (`"a":1,"b":"c"`), for the one line that every query writes. */
  writeMembers(level: LogLevel, event: string, members: string): void;
  /** Logs a bug with its stack and counts it. */
  bug(error: unknown, fields?: LogFields): void;
}
