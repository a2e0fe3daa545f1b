/**
 * A column of one batch as buffers: Arrow's layout, one layout per neutral type, no object per cell.
 *
 * The buffers may be views of shared memory that is reused after the batch was released: whoever
 * keeps a cell copies it.
 */
import type { DataType } from "./type.ts";

/**
 * Layouts of `values`, all little-endian, row `r` at index `offset + r`:
 * boolean: a bitmap, least significant bit first · integer: `bits / 8` bytes, two's complement ·
 * float: IEEE 754 · decimal: 16 bytes, unscaled, two's complement · text, json, binary: bytes
 * between `offsets[i]` and `offsets[i + 1]` · date: int32 days · time, timestamp: int64 count of the
 * unit · interval: int32 months, int32 days, int64 nanoseconds · uuid: 16 bytes in the order of its
 * text · list: `offsets` into `children[0]` · struct: `children` in field order, each indexed by
 * `offset + r` plus its own `offset` · map: `offsets` into `children[0]` (keys) and `children[1]`
 * (values) · null: empty.
 */
export interface Vector {
  readonly type: DataType;
  /** Rows. */
  readonly length: number;
  /** Index of the first row in `validity`, `values` (in elements) and `offsets`. */
  readonly offset: number;
  /** Bitmap, 1 means present, least significant bit first; undefined when no cell is NULL. */
  readonly validity: Uint8Array | undefined;
  readonly values: Uint8Array;
  readonly offsets: Int32Array | undefined;
  readonly children: readonly Vector[];
}

/** Rows of a result in columns. */
export interface ColumnarBatch {
  readonly form: "columnar";
  readonly rows: number;
  readonly columns: readonly Vector[];
  /** The same rows as the engine's own message, where its query `takes` such. Whoever makes a batch of others leaves it out. */
  readonly arrow?: ArrowMessage;
}

/**
 * A record batch of Arrow's IPC, uncompressed and without dictionaries, in memory that nobody writes to before it is
 * released. Its layouts are Arrow's own: it is left out of batches with an integer of 128 bits, or a time of less than microseconds.
 */
export interface ArrowMessage {
  /** Without prefix; padded, so that the body may stand behind it. */
  readonly metadata: Uint8Array;
  readonly body: Uint8Array;
  /**
   * Called, once, by who has read all of it and its columns for the last time: the memory is used again. Nobody has to:
   * it is collected otherwise.
   */
  release?(): void;
}

/**
 * Rows as the text that their source sent, without a copy per cell: for engines that speak text.
 *
 * The text of a cell is the type's canonical one, so that a frontend can pass it on without knowing
 * the engine: boolean `true` or `false` · integer and decimal plain digits, a decimal with exactly
 * `scale` of them behind the point · float what JavaScript prints, and `Infinity`, `-Infinity`, `NaN` ·
 * text, json UTF-8 · binary the bytes themselves · date `2024-02-29` · time and timestamp with exactly
 * the digits of the unit, `2024-02-29 12:34:56.789000`, an instant in UTC and without a suffix · uuid
 * lower-case with hyphens. Other kinds and years outside 0001 to 9999 have no such text: their source
 * makes columns.
 */
export interface TextBatch {
  readonly form: "text";
  readonly rows: number;
  readonly types: readonly DataType[];
  readonly bytes: Uint8Array;
  /** Where the cell of row `r` and column `c` begins in `bytes`, at `r * types.length + c`. */
  readonly starts: Int32Array;
  /** Its bytes, at the same index; -1 is NULL. */
  readonly lengths: Int32Array;
}

/**
 * Formats in which a client's own protocol carries rows, so that an engine that speaks the same one
 * hands them through: `trinoData`: the JSON array of a Trino page · `mysqlRows`: packets of a MySQL
 * text result, each with its 4-byte header, numbered one after the other · `mysqlBinaryRows`: the same of a prepared
 * statement's result · `mysqlNext`: no rows, but the place between two results of one statement, with the definitions of
 * the second · `postgresRows`: DataRow messages in the
 * formats that the query's `call` asks for · `postgresCopy`: CopyData messages · `clickHouseBody`: any piece of the
 * body of a ClickHouse answer, in whatever format and compression the query's `relay` asks for; its rows are
 * not counted.
 */
export type NativeFormat =
  | "trinoData"
  | "mysqlRows"
  | "mysqlBinaryRows"
  | "mysqlNext"
  | "postgresRows"
  | "postgresCopy"
  | "clickHouseBody";

/**
 * What a frontend may say that it takes: rows in a format of its own, or `arrowMessages`: columns as ever, but with the
 * message that they lie in, and up to a megabyte at a time, where the engine has Arrow's messages.
 */
export type TakenFormat = NativeFormat | "arrowMessages";

/** Formats whose batches do not say how many rows they hold: nobody can hold a limit of rows over them. */
export const uncountedFormats: ReadonlySet<TakenFormat> = new Set<TakenFormat>(["clickHouseBody"]);

/** Rows in a format that the query's frontend said it takes, untouched. */
export interface NativeBatch {
  readonly form: "native";
  readonly format: NativeFormat;
  readonly rows: number;
  readonly bytes: Uint8Array;
  /** Of `mysqlNext` alone. */
  readonly next?: NextResult;
}

/** Where one result of a MySQL server ends and the next one begins. */
export interface NextResult {
  /** How the one before ended. */
  readonly affectedRows: number;
  readonly insertId: bigint;
  readonly warnings: number;
  readonly info: string;
  /** The server's status flags. */
  readonly status: number;
  /** Of the next result; 0: it has no rows. */
  readonly columns: number;
  /** The status flags behind its definitions. */
  readonly columnsStatus: number;
}

/** What an engine hands over. Native only to a query that `takes` the format. */
export type Batch = ColumnarBatch | TextBatch | NativeBatch;

/** True when the cell is NULL. */
export function isNull(vector: Vector, row: number): boolean {
  if (vector.type.kind === "null") return true;
  if (vector.validity === undefined) return false;
  const index = vector.offset + row;
  return ((vector.validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0;
}
