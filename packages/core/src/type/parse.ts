/** Signature first; see below. */
import type { GatewayError } from "../error.ts";
import type { Result } from "../result.ts";
import type { DataType, Value } from "./type.ts";
import { utc, type Zone } from "./zone.ts";

/** The value a text stands for, or `query.data` with the SQLSTATE of the reason. */
export function parseText(
  type: DataType,
  text: string,
  zone: Zone = utc,
): Result<Value, GatewayError> {
  throw new Error(`not written: ${type.kind} ${text.length} ${zone.name}`);
}
