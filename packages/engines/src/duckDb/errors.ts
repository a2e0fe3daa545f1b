/** What comes back from DuckDB's driver or its thread, as errors of the catalogue. DuckDB's own classes are in library/failure.ts. */
import type { GatewayError } from "@gateway/core/error.ts";
import { errorOfBinding } from "../native/bindingError.ts";
import type { AdbcFailure } from "../native/driver.ts";
import { errorOfFailure, readFailure, type FailedStatement } from "./library/failure.ts";

/** The catalogue's error for what a driver or its thread refused. */
export function errorOf(failure: AdbcFailure, statement: FailedStatement): GatewayError {
  return failure.code === "driver"
    ? errorOfFailure(readFailure(failure.message), statement)
    : errorOfBinding(failure.code, failure.message);
}

/** True when the transaction can only be rolled back, or is gone with the engine. */
export function isTransactionOver(failure: AdbcFailure): boolean {
  if (failure.code === "crashed" || failure.code === "broken") return true;
  return failure.code === "driver" && readFailure(failure.message).type === "TransactionContext";
}

/** Classes of failures that DuckDB finds before a statement runs, and for which it keeps the transaction. */
const beforeRun: ReadonlySet<string> = new Set(["Parser", "Syntax", "Binder", "Catalog"]);

/** True when the statement that failed changed nothing for certain. */
export function isBeforeRun(failure: AdbcFailure): boolean {
  if (failure.code === "refused" || failure.code === "parameters") return true;
  return failure.code === "driver" && beforeRun.has(readFailure(failure.message).type);
}
