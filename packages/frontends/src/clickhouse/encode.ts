/**
 * The formats in which the gateway itself writes rows, for engines that are no ClickHouse. A format is what stands
 * before the rows, how a piece of a batch is written, and what stands behind the last one.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { QueryStats } from "@gateway/core/query/event.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import { named } from "./errors.ts";
import { ArrowWriter, type ArrowForm } from "./value/arrow.ts";
import { holdsNullPart, putNativeColumn, rowBinaryCells } from "./value/binary.ts";
import { CellRows, type RowForm } from "./value/cellRows.ts";
import {
  csvCell,
  escapedCell,
  isQuoted,
  jsonCell,
  jsonStringCell,
  plainCell,
  quotedCell,
  type JsonLook,
} from "./value/cells.ts";
import type { Output } from "./value/output.ts";
import { columnType } from "./value/types.ts";

/** What of a request's settings a format looks at. */
export interface FormatLook extends JsonLook {
  /** The version of Native that the client asks for; 0 where it says none. */
  readonly nativeRevision: number;
}

/** Writes one result. */
export interface ResultWriter {
  head(out: Output): void;
  /** Writes rows from `from` on until the output holds `bytesMax`; answers the next row. */
  rows(batch: ColumnarBatch, from: number, out: Output, bytesMax: number): number;
  tail(out: Output, stats: QueryStats): void;
  /** Why a batch can not be written. */
  refuses(batch: ColumnarBatch): GatewayError | undefined;
}

export interface Format {
  readonly name: string;
  readonly contentType: string;
  writer(columns: readonly Column[], look: FormatLook): ResultWriter;
}

const tsvType = "text/tab-separated-values; charset=UTF-8";
const csvType = "text/csv; charset=UTF-8";
const jsonType = "application/json; charset=UTF-8";
const linesType = "application/x-ndjson; charset=UTF-8";
const binaryType = "application/octet-stream";

/** Lines before the rows. */
type Names = "" | "WithNames" | "WithNamesAndTypes";
const namings: readonly Names[] = ["", "WithNames", "WithNamesAndTypes"];

const formats: readonly Format[] = [
  ...namings.flatMap((names) => [
    ...["TabSeparated", "TSV"].map((name) =>
      textFormat(`${name}${names}`, tsvType, tsvForm, names),
    ),
    ...["TabSeparatedRaw", "TSVRaw", "Raw"].map((name) =>
      textFormat(`${name}${names}`, tsvType, rawForm, names),
    ),
    textFormat(`CSV${names}`, csvType, csvForm, names),
    textFormat(`JSONCompactEachRow${names}`, linesType, compactForm(false), names),
    textFormat(`JSONCompactStringsEachRow${names}`, linesType, compactForm(true), names),
    rowBinary(`RowBinary${names}`, names),
  ]),
  textFormat("Values", "text/plain; charset=UTF-8", valuesForm, ""),
  ...["JSONEachRow", "JSONLines", "NDJSON"].map((name) =>
    textFormat(name, linesType, objectForm(false), ""),
  ),
  textFormat("JSONStringsEachRow", linesType, objectForm(true), ""),
  jsonDocument("JSON", objectForm(false)),
  jsonDocument("JSONStrings", objectForm(true)),
  jsonDocument("JSONCompact", compactForm(false)),
  jsonDocument("JSONCompactStrings", compactForm(true)),
  { name: "Native", contentType: binaryType, writer: nativeWriter },
  arrow("Arrow", "file"),
  arrow("ArrowStream", "stream"),
  { name: "Null", contentType: "text/plain; charset=UTF-8", writer: () => nobody },
];

const byName: ReadonlyMap<string, Format> = new Map(
  formats.map((format) => [format.name.toLowerCase(), format]),
);

/** The format of a name in any case; undefined for one that only a ClickHouse server writes. */
export function formatOf(name: string): Format | undefined {
  return byName.get(name.toLowerCase());
}

/** Names of all formats, for the docs. */
export const formatNames: readonly string[] = formats.map(({ name }) => name);

type MakeForm = (columns: readonly Column[], look: FormatLook) => RowForm & Lines;

/** How names and types stand above the rows. */
interface Lines {
  readonly line: (texts: readonly string[]) => string;
  /** Behind the last row, if there is any. */
  readonly last: string;
}

function tsvForm(): RowForm & Lines {
  return { ...rawForm(), writer: (vector) => tsvCell(vector), line: lineOf("\t", tsvText) };
}

function rawForm(): RowForm & Lines {
  const plain = { open: "", comma: "\t", close: "\n", between: "", nulls: "\\N", last: "" };
  return { ...plain, writer: plainCell, line: lineOf("\t", (text) => text) };
}

function tsvCell(vector: Parameters<RowForm["writer"]>[0]) {
  const plain = plainCell(vector);
  // What stands in an array is escaped already, and once more as a field.
  return isQuoted(vector) || vector.children.length > 0 ? escapedCell(plain) : plain;
}

function csvForm(): RowForm & Lines {
  return {
    ...rawForm(),
    comma: ",",
    writer: (vector) => {
      const plain = plainCell(vector);
      return isQuoted(vector) || vector.children.length > 0 ? csvCell(plain) : plain;
    },
    line: lineOf(",", (text) => `"${text.replaceAll('"', '""')}"`),
  };
}

function valuesForm(): RowForm & Lines {
  const marks = { open: "(", comma: ",", close: ")", between: ",", nulls: "NULL", last: "" };
  return { ...marks, writer: quotedCell, line: () => "" };
}

function compactForm(strings: boolean): MakeForm {
  return (_columns, look) => ({
    open: "[",
    comma: ", ",
    close: "]",
    between: "\n",
    nulls: "null",
    writer: jsonWriter(strings, look),
    line: (texts) => `[${texts.map((text) => JSON.stringify(text)).join(", ")}]\n`,
    last: "\n",
  });
}

function objectForm(strings: boolean): MakeForm {
  return (columns, look) => ({
    open: "{",
    comma: ",",
    close: "}",
    between: "\n",
    nulls: "null",
    names: columns.map(({ name }) => `${JSON.stringify(name)}:`),
    writer: jsonWriter(strings, look),
    line: () => "",
    last: "\n",
  });
}

function jsonWriter(strings: boolean, look: JsonLook): RowForm["writer"] {
  return strings ? jsonStringCell : (vector) => jsonCell(vector, look);
}

function lineOf(comma: string, written: (text: string) => string): Lines["line"] {
  return (texts) => `${texts.map(written).join(comma)}\n`;
}

const tsvEscapes: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  "'": "\\'",
  "\\": "\\\\",
};

function tsvText(text: string): string {
  return text.replaceAll(/[\0\b\t\n\f\r'\\]/g, (letter) => tsvEscapes[letter] ?? letter);
}

/** Rows of text, one after the other. */
function textFormat(name: string, contentType: string, make: MakeForm, names: Names): Format {
  return {
    name,
    contentType,
    writer: (columns, look) => {
      const form = make(columns, look);
      const rows = new Batches(form);
      return {
        head: (out) => {
          for (const texts of headings(columns, names)) out.text(form.line(texts));
        },
        rows: (batch, from, out, bytesMax) => rows.write(batch, from, out, bytesMax),
        tail: (out) => {
          if (rows.count > 0) out.text(form.last);
        },
        refuses: () => undefined,
      };
    },
  };
}

function headings(columns: readonly Column[], names: Names): readonly (readonly string[])[] {
  const all = [columns.map(({ name }) => name), columns.map((column) => columnType(column))];
  return all.slice(0, namings.indexOf(names));
}

/** The writers of the batch that is being written are kept from one piece to the next. */
class Batches {
  readonly #rows: CellRows;
  #batch: ColumnarBatch | undefined;
  #cells: ReturnType<CellRows["cellsOf"]> = [];

  constructor(form: RowForm) {
    this.#rows = new CellRows(form);
  }

  get count(): number {
    return this.#rows.rows;
  }

  write(batch: ColumnarBatch, from: number, out: Output, bytesMax: number): number {
    if (batch !== this.#batch) this.#cells = this.#rows.cellsOf(batch);
    this.#batch = batch;
    return this.#rows.write(this.#cells, { from, to: batch.rows }, out, bytesMax);
  }
}

/** One document with the columns before the rows, and counts behind them. */
function jsonDocument(name: string, make: MakeForm): Format {
  return {
    name,
    contentType: jsonType,
    writer: (columns, look) => {
      const rows = new Batches({ ...make(columns, look), between: ",\n" });
      const meta = columns.map((column) => ({ name: column.name, type: columnType(column) }));
      return {
        head: (out) => out.text(`{"meta":${JSON.stringify(meta)},\n"data":[\n`),
        rows: (batch, from, out, bytesMax) => rows.write(batch, from, out, bytesMax),
        tail: (out, { executionMs, bytes }) => {
          const statistics = {
            elapsed: executionMs / 1000,
            rows_read: rows.count,
            bytes_read: bytes,
          };
          out.text(`\n],\n"rows":${rows.count},\n"statistics":${JSON.stringify(statistics)}}\n`);
        },
        refuses: () => undefined,
      };
    },
  };
}

function rowBinary(name: string, names: Names): Format {
  return {
    name,
    contentType: binaryType,
    writer: (columns) => {
      let known: ColumnarBatch | undefined;
      let cells: ReturnType<typeof rowBinaryCells> = [];
      return {
        head: (out) => {
          const lines = headings(columns, names);
          if (lines.length > 0) out.varint(columns.length);
          for (const text of lines.flat()) out.string(text);
        },
        rows: (batch, from, out, bytesMax) => {
          if (batch !== known) cells = rowBinaryCells(batch, columns);
          known = batch;
          let row = from;
          for (; row < batch.rows && out.length < bytesMax; row += 1) {
            for (const put of cells) put(out, row);
          }
          return row;
        },
        tail: () => undefined,
        refuses: (batch) => nullPartIn(batch, columns),
      };
    },
  };
}

/** Rows of one block, and about how many bytes. */
const blockRowsMax = 65_536;
const blockBytesMax = 4 * 1024 * 1024;

function nativeWriter(columns: readonly Column[], { nativeRevision }: FormatLook): ResultWriter {
  let blocks = 0;
  const put = (batch: ColumnarBatch, from: number, to: number, out: Output): void => {
    blocks += 1;
    if (nativeRevision > 0) out.put(blockInfo);
    out.varint(columns.length);
    out.varint(to - from);
    for (const [index, column] of columns.entries()) {
      out.string(column.name);
      out.string(columnType(column));
      const vector = batch.columns[index];
      if (vector === undefined) throw new RangeError("a batch without one of its columns");
      if (to > from) putNativeColumn(vector, column.nullable, { out, from, to });
    }
  };
  return {
    head: () => undefined,
    rows: (batch, from, out) => {
      const fit = Math.floor((blockBytesMax * batch.rows) / Math.max(1, batchBytes(batch)));
      const to = Math.min(batch.rows, from + Math.max(1, Math.min(blockRowsMax, fit)));
      if (to > from) put(batch, from, to, out);
      return to;
    },
    tail: (out) => {
      // A result without rows is a block that only names its columns.
      if (blocks === 0) put(emptyOf(columns), 0, 0, out);
    },
    refuses: (batch) => nullPartIn(batch, columns),
  };
}

/** No overflow, no bucket. */
const blockInfo = Uint8Array.of(1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0);

function emptyOf(columns: readonly Column[]): ColumnarBatch {
  const none = { offset: 0, length: 0, validity: undefined, offsets: undefined, children: [] };
  const values = new Uint8Array(0);
  return {
    form: "columnar",
    rows: 0,
    columns: columns.map(({ type }) => ({ ...none, type, values })),
  };
}

function nullPartIn(batch: ColumnarBatch, columns: readonly Column[]): GatewayError | undefined {
  const at = batch.columns.findIndex((vector) => holdsNullPart(vector, 0, batch.rows));
  if (at < 0) return undefined;
  const name = (columns[at]?.name ?? "").slice(0, 100);
  return gatewayError("query.data", {
    message: `Column ${name} holds a NULL array, tuple or map, for which this format has no place; a format of the JSON family has`,
    vendor: named("CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN"),
  });
}

function arrow(name: string, form: ArrowForm): Format {
  return {
    name,
    contentType: binaryType,
    writer: (columns) => {
      const writer = new ArrowWriter(columns, form);
      return {
        head: (out) => writer.head(out),
        // A message at a time: the caller asks on from where it is told.
        rows: (batch, from, out) => (writer.more(batch, out) ? from : batch.rows),
        tail: (out) => writer.tail(out),
        refuses: () => undefined,
      };
    },
  };
}

const nobody: ResultWriter = {
  head: () => undefined,
  rows: (batch) => batch.rows,
  tail: () => undefined,
  refuses: () => undefined,
};
