/** What comes back from DuckDB's driver or its thread, as errors of the catalogue. DuckDB's own classes are in adbc/duckDb/failure.ts. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { AdbcFailure } from "../adbc/driver.ts";
import { errorOfFailure, readFailure, type FailedStatement } from "../adbc/duckDb/failure.ts";

/** The catalogue's error for what a driver or its thread refused. */
export function errorOf(failure: AdbcFailure, statement: FailedStatement): GatewayError {
  switch (failure.code) {
    case "driver":
      return errorOfFailure(readFailure(failure.message), statement);
    case "cancelled":
      return gatewayError("query.cancelled");
    case "empty":
      return gatewayError("query.syntax", { message: "the text holds no statement" });
    case "several":
      return gatewayError("query.unsupported", {
        message: "one statement at a time; the text holds several",
      });
    case "refused":
      return gatewayError("query.permission", {
        message: "this kind of statement may not run here",
      });
    case "parameters":
      return gatewayError("query.parameters", { message: failure.message });
    case "unreadable":
      return gatewayError("query.unsupported", { message: failure.message });
    case "library":
    case "broken":
      return gatewayError("engine.broken", { detail: failure.message });
    case "bug":
      return gatewayError("internal.bug", { detail: failure.message });
  }
}

/** True when the transaction can only be rolled back. */
export function isTransactionOver(failure: AdbcFailure): boolean {
  return failure.code === "driver" && readFailure(failure.message).type === "TransactionContext";
}
