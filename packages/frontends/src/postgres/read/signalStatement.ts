/**
 * Finds a SELECT that signals one connection and does nothing else: `SELECT pg_terminate_backend($1)`. A client knows
 * its connections by the process numbers that the gateway gave them, which no server knows.
 */
import type { Description } from "@gateway/core/query/event.ts";
import type { PostgresCall, SignalName } from "@gateway/core/query/query.ts";
import {
  atEnd,
  peekToken,
  readTokens,
  takeFoldedName,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import type { DataType } from "@gateway/core/type/type.ts";

/** What a statement asks for, and of which connection: one by its number, the first parameter's, or its own. */
export interface Signal {
  readonly name: SignalName;
  readonly process: number | "parameter" | "own";
  /** Of the column. */
  readonly label: string;
}

/** The signal; undefined for every other statement. `second` is its second word in upper case. */
export function readSignal(sql: string, second: string): Signal | undefined {
  if (!words.has(second)) return undefined;
  const reader = readTokens(sql, "postgres");
  if (reader === undefined || !takeWords(reader, "SELECT")) return undefined;
  const name = takeFunction(reader);
  if (name !== "pg_terminate_backend" && name !== "pg_cancel_backend") return undefined;
  if (!takeSymbol(reader, "(")) return undefined;
  const process = takeProcess(reader);
  if (process === undefined || !takeSymbol(reader, ")")) return undefined;
  const label = takeWords(reader, "AS") ? takeFoldedName(reader) : name;
  return label !== undefined && atEnd(reader) ? { name, process, label } : undefined;
}

/** Whether a text says the name of such a function anywhere. Nobody writes a long one to signal something. */
export function namesSignal(sql: string): boolean {
  return sql.length <= lengthMax && /pg_(?:cancel|terminate)_backend/i.test(sql);
}

const lengthMax = 64 * 1024;

/** Its parameter and its column, as PostgreSQL has them. */
export function describedSignal({ process, label }: Signal): Description {
  const columns = [columnOf(label, { kind: "boolean" })];
  if (process !== "parameter") return { parameters: [], columns, parameterOids: [] };
  return { parameters: [int32], columns, parameterOids: [int32Oid] };
}

const int32: DataType = { kind: "integer", bits: 32, signed: true };
const int32Oid = 23;

/** The number in the statement or in its first value; undefined where that is none. */
export function processIn(
  { process }: Pick<Signal, "process">,
  { values: [value], formats: [format = 0] }: PostgresCall,
): number | undefined {
  if (typeof process === "number") return process;
  if (process === "own" || value === undefined) return undefined;
  const { byteOffset, length } = value;
  if (format === 1)
    return length === 4 ? new DataView(value.buffer, byteOffset, length).getInt32(0) : undefined;
  const text = Buffer.from(value.buffer, byteOffset, length).toString("latin1");
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

const words: ReadonlySet<string> = new Set([
  "PG_TERMINATE_BACKEND",
  "PG_CANCEL_BACKEND",
  "PG_CATALOG",
]);

function takeFunction(reader: TokenReader): string | undefined {
  if (takeWords(reader, "PG_CATALOG") && !takeSymbol(reader, ".")) return undefined;
  return takeFoldedName(reader);
}

function takeProcess(reader: TokenReader): Signal["process"] | undefined {
  const { text = "" } = peekToken(reader) ?? {};
  if (/^\d{1,10}$/.test(text)) {
    reader.at += 1;
    return Number(text);
  }
  if (text === "$1") {
    reader.at += 1;
    const typed =
      !takeSymbol(reader, "::") || takeWords(reader, "INT") || takeWords(reader, "INT4");
    return typed ? "parameter" : undefined;
  }
  const own = takeFunction(reader) === "pg_backend_pid";
  return own && takeSymbol(reader, "(") && takeSymbol(reader, ")") ? "own" : undefined;
}
