/** PostgreSQL's protocol from the client's side: the messages to PGlite, and the reading of its answers. Pure. */
import { BodyReader, ByteWriter, getInt32 } from "@gateway/wire/postgres/bytes.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import type {
  MirrorColumn,
  MirrorDescription,
  MirrorError,
  MirrorRows,
  MirrorValue,
  MirrorVector,
} from "./message.ts";

const letter = (char: string): number => char.charCodeAt(0);

/** A simple query. */
export function queryMessage(sql: string): Uint8Array {
  const out = new ByteWriter();
  const start = out.begin(letter("Q"));
  out.text(sql);
  out.end(start);
  return out.take();
}

/** Parse, Describe of the statement, and Sync. */
export function describeMessages(sql: string, types: readonly number[]): Uint8Array {
  const out = new ByteWriter();
  putParse(out, sql, types);
  putTarget(out, "D", "S");
  putSync(out);
  return out.take();
}

/** One statement with its values, from Parse to Sync. */
export function runMessages(
  { sql, types }: { readonly sql: string; readonly types: readonly number[] },
  values: readonly MirrorValue[],
  formats: readonly Format[],
): Uint8Array {
  const out = new ByteWriter();
  putParse(out, sql, types);
  putBind(out, values, formats);
  putTarget(out, "D", "P");
  const start = out.begin(letter("E"));
  out.text("");
  out.i32(0);
  out.end(start);
  putSync(out);
  return out.take();
}

function putParse(out: ByteWriter, sql: string, types: readonly number[]): void {
  const start = out.begin(letter("P"));
  out.text("");
  out.text(sql);
  out.i16(types.length);
  for (const type of types) out.i32(type);
  out.end(start);
}

const encoder = new TextEncoder();

function putBind(
  out: ByteWriter,
  values: readonly MirrorValue[],
  formats: readonly Format[],
): void {
  const start = out.begin(letter("B"));
  out.text("");
  out.text("");
  out.i16(values.length);
  for (const value of values) out.i16(value instanceof Uint8Array ? 1 : 0);
  out.i16(values.length);
  for (const value of values) {
    const bytes = typeof value === "string" ? encoder.encode(value) : value;
    out.i32(bytes?.length ?? -1);
    if (bytes !== null) out.bytes(bytes);
  }
  out.i16(formats.length);
  for (const format of formats) out.i16(format);
  out.end(start);
}

function putTarget(out: ByteWriter, message: string, target: "S" | "P"): void {
  const start = out.begin(letter(message));
  out.u8(letter(target));
  out.text("");
  out.end(start);
}

function putSync(out: ByteWriter): void {
  out.end(out.begin(letter("S")));
}

/** What PGlite answered, up to its ReadyForQuery. */
export interface BackendResponse {
  readonly error: MirrorError | undefined;
  readonly description: MirrorDescription;
  readonly result: MirrorRows;
}

/** Reads a whole response. Of several results the last one's columns count; a mirror asks for one. */
export function readResponse(bytes: Uint8Array): BackendResponse {
  let types: readonly number[] = [];
  let columns: readonly MirrorColumn[] = [];
  let error: MirrorError | undefined;
  const rows: Uint8Array[] = [];
  for (let at = 0; at + 5 <= bytes.length;) {
    const end = at + 1 + getInt32(bytes, at + 1);
    const body = bytes.subarray(at + 5, end);
    switch (String.fromCharCode(bytes[at] ?? 0)) {
      case "t":
        types = readTypes(body);
        break;
      case "T":
        columns = readColumns(body);
        break;
      case "D":
        rows.push(body);
        break;
      case "E":
        error ??= readError(body);
        break;
      default:
    }
    at = end;
  }
  const vectors = columns.map((_, index) => vectorOf(rows, index));
  return {
    error,
    description: { types, columns },
    result: { columns, rows: rows.length, vectors },
  };
}

function readTypes(body: Uint8Array): readonly number[] {
  const reader = new BodyReader(body);
  return Array.from({ length: reader.u16() }, () => reader.i32() >>> 0);
}

function readColumns(body: Uint8Array): readonly MirrorColumn[] {
  const reader = new BodyReader(body);
  return Array.from({ length: reader.u16() }, () => {
    const name = reader.text();
    // Numbers of table and attribute, which mean nothing outside of the mirror.
    reader.i32();
    reader.u16();
    const oid = reader.i32() >>> 0;
    const size = (reader.u16() << 16) >> 16;
    const modifier = reader.i32();
    reader.u16();
    return { name, oid, size, modifier };
  });
}

function readError(body: Uint8Array): MirrorError {
  const reader = new BodyReader(body);
  const fields = new Map<string, string>();
  for (let code = reader.u8(); code !== 0; code = reader.u8()) {
    fields.set(String.fromCharCode(code), reader.text());
  }
  const position = fields.get("P");
  const hint = fields.get("H");
  return {
    sqlState: fields.get("C") ?? "XX000",
    message: fields.get("M") ?? "",
    ...(position === undefined ? {} : { position: Number(position) }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** One column of all rows. Each column walks over its rows anew, because rows of catalogs are short. */
function vectorOf(rows: readonly Uint8Array[], column: number): MirrorVector {
  const offsets = new Int32Array(rows.length + 1);
  const starts = new Int32Array(rows.length);
  const validity = new Uint8Array((rows.length + 7) >> 3);
  let nulls = false;
  for (const [index, row] of rows.entries()) {
    let at = 2;
    for (let before = 0; before < column; before += 1) at += 4 + Math.max(0, getInt32(row, at));
    const length = getInt32(row, at);
    starts[index] = at + 4;
    offsets[index + 1] = (offsets[index] ?? 0) + Math.max(0, length);
    if (length < 0) nulls = true;
    else validity[index >> 3] = (validity[index >> 3] ?? 0) | (1 << (index & 7));
  }
  const values = new Uint8Array(offsets[rows.length] ?? 0);
  for (const [index, row] of rows.entries()) {
    const start = starts[index] ?? 0;
    const length = (offsets[index + 1] ?? 0) - (offsets[index] ?? 0);
    values.set(row.subarray(start, start + length), offsets[index]);
  }
  return { values, offsets, validity: nulls ? validity : undefined };
}
