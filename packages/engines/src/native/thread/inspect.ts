/**
 * What DuckDB's C API says about a statement and ADBC can not: how many statements a text holds,
 * what kind it is, the types of its parameters.
 *
 * It reaches the driver's own connection and prepared statement through the first words of their
 * private structs. That layout belongs to one version of the library, so it is checked before it is
 * trusted: a statement must point at its connection, and the connection at the same handle, or this
 * answers undefined and nothing is read. DuckDB aborts the process on empty text in its ADBC driver,
 * which is why the count comes first.
 */
import type { DataType } from "@gateway/core/type/type.ts";
import { err, ok } from "@gateway/core/result.ts";
import { addressIn, MemoryBlock, bytesAt, type Address, type Library } from "../memory/native.ts";
import { failureOf, type AdbcFailure, type AdbcResult } from "../driver.ts";

/** The connection handle of the C API, found inside an `AdbcConnection`. */
export interface InspectedConnection {
  readonly handle: Address;
  readonly wrapper: Address;
}

export class Inspector {
  readonly #call: ReturnType<typeof functionsOf>;
  readonly #extracted = new MemoryBlock(8);
  readonly #prepared = new MemoryBlock(8);

  constructor(library: Library) {
    this.#call = functionsOf(library);
  }

  /** `connection` and `statement` are the private data of an open connection and of a new statement on it. */
  connection(connection: Address, statement: Address): InspectedConnection | undefined {
    const outer = new DataView(bytesAt(connection, 8).buffer);
    const inner = new DataView(bytesAt(statement, 24).buffer);
    const handle = addressIn(outer, 0);
    const matches =
      handle !== 0 && addressIn(inner, 0) === handle && addressIn(inner, 8) === connection;
    // A new statement has nothing prepared yet.
    return matches && addressIn(inner, 16) === 0 ? { handle, wrapper: connection } : undefined;
  }

  /** Counts the statements of a text, and looks at what a text that the engine expands is made of. */
  count(
    connection: InspectedConnection,
    sql: string,
    expandedType: number | undefined,
  ): AdbcResult<"one" | "expanded"> {
    const count = Number(this.#call.extract(connection.handle, sql, this.#extracted.address));
    const extracted = this.#extracted.pointer(0);
    try {
      if (count === 1) return ok("one");
      if (count === 0) return err(this.#refusal(extracted));
      const expanded =
        expandedType !== undefined &&
        this.#beginsWith(connection, extracted, count - 1, expandedType);
      return expanded
        ? ok("expanded")
        : err(failureOf("several", "the text holds more than one statement"));
    } finally {
      this.#call.destroyExtracted(this.#extracted.address);
    }
  }

  /** The prepared statement inside an ADBC statement whose text was set. */
  prepared(connection: InspectedConnection, statement: Address): Address | undefined {
    const view = new DataView(bytesAt(statement, 24).buffer);
    const matches =
      addressIn(view, 0) === connection.handle && addressIn(view, 8) === connection.wrapper;
    const prepared = addressIn(view, 16);
    return matches && prepared !== 0 ? prepared : undefined;
  }

  /** DuckDB's number for the kind of a prepared statement (`duckdb_statement_type`). */
  statementType(prepared: Address): number {
    return Number(this.#call.statementType(prepared));
  }

  /** How many values the statement waits for. */
  parameterCount(prepared: Address): number {
    return Number(this.#call.parameterCount(prepared));
  }

  /** Types of the parameters in order; undefined where DuckDB waits for a value to decide. */
  parameters(prepared: Address): readonly (DataType | undefined)[] {
    const count = this.parameterCount(prepared);
    return Array.from({ length: count }, (_, index) => this.#parameter(prepared, index + 1));
  }

  #parameter(prepared: Address, index: number): DataType | undefined {
    const id = Number(this.#call.parameterType(prepared, index));
    if (id !== decimalType) return plainTypes[id];
    const holder = new MemoryBlock(8);
    try {
      const logical = Number(this.#call.parameterLogicalType(prepared, index));
      holder.put(0, logical);
      const precision = Number(this.#call.decimalWidth(logical));
      const scale = Number(this.#call.decimalScale(logical));
      return { kind: "decimal", precision, scale };
    } finally {
      this.#call.destroyLogicalType(holder.address);
      holder[Symbol.dispose]();
    }
  }

  #beginsWith(
    connection: InspectedConnection,
    extracted: Address,
    count: number,
    type: number,
  ): boolean {
    for (let index = 0; index < count; index += 1) {
      const state = this.#call.prepareExtracted(
        connection.handle,
        extracted,
        index,
        this.#prepared.address,
      );
      const found = state === 0 ? this.statementType(this.#prepared.pointer(0)) : undefined;
      this.#call.destroyPrepared(this.#prepared.address);
      if (found !== type) return false;
    }
    return true;
  }

  #refusal(extracted: Address): AdbcFailure {
    const text = extracted === 0 ? null : this.#call.extractError(extracted);
    const broken = typeof text === "string" && text !== "";
    return broken ? failureOf("driver", text) : failureOf("empty", "the text holds no statement");
  }
}

function functionsOf(library: Library) {
  const P = "pointer";
  return {
    extract: library.get("duckdb_extract_statements", { answer: "uint64", takes: [P, "text", P] }),
    extractError: library.get("duckdb_extract_statements_error", { answer: "text", takes: [P] }),
    destroyExtracted: library.get("duckdb_destroy_extracted", { answer: "void", takes: [P] }),
    prepareExtracted: library.get("duckdb_prepare_extracted_statement", {
      answer: "int32",
      takes: [P, P, "uint64", P],
    }),
    destroyPrepared: library.get("duckdb_destroy_prepare", { answer: "void", takes: [P] }),
    statementType: library.get("duckdb_prepared_statement_type", { answer: "int32", takes: [P] }),
    parameterCount: library.get("duckdb_nparams", { answer: "uint64", takes: [P] }),
    parameterType: library.get("duckdb_param_type", { answer: "int32", takes: [P, "uint64"] }),
    parameterLogicalType: library.get("duckdb_param_logical_type", {
      answer: P,
      takes: [P, "uint64"],
    }),
    decimalWidth: library.get("duckdb_decimal_width", { answer: "status", takes: [P] }),
    decimalScale: library.get("duckdb_decimal_scale", { answer: "status", takes: [P] }),
    destroyLogicalType: library.get("duckdb_destroy_logical_type", { answer: "void", takes: [P] }),
  };
}

const decimalType = 19;

/** `duckdb_type` to neutral types; nested ones are left to the engine. */
const plainTypes: Readonly<Record<number, DataType>> = {
  1: { kind: "boolean" },
  2: { kind: "integer", bits: 8, signed: true },
  3: { kind: "integer", bits: 16, signed: true },
  4: { kind: "integer", bits: 32, signed: true },
  5: { kind: "integer", bits: 64, signed: true },
  6: { kind: "integer", bits: 8, signed: false },
  7: { kind: "integer", bits: 16, signed: false },
  8: { kind: "integer", bits: 32, signed: false },
  9: { kind: "integer", bits: 64, signed: false },
  10: { kind: "float", bits: 32 },
  11: { kind: "float", bits: 64 },
  12: { kind: "timestamp", unit: "us", zoned: false },
  13: { kind: "date" },
  14: { kind: "time", unit: "us" },
  15: { kind: "interval" },
  16: { kind: "integer", bits: 128, signed: true },
  17: { kind: "text" },
  18: { kind: "binary" },
  20: { kind: "timestamp", unit: "s", zoned: false },
  21: { kind: "timestamp", unit: "ms", zoned: false },
  22: { kind: "timestamp", unit: "ns", zoned: false },
  // An enum, a time with an offset, a bit string and a bignum are text here.
  23: { kind: "text" },
  27: { kind: "uuid" },
  29: { kind: "text" },
  30: { kind: "text" },
  31: { kind: "timestamp", unit: "us", zoned: true },
  32: { kind: "integer", bits: 128, signed: false },
  35: { kind: "text" },
  39: { kind: "time", unit: "ns" },
};
