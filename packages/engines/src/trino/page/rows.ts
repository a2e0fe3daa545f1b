/**
 * Rows of a page as batches: untouched for a client that takes Trino's own form, as text where every
 * cell has a canonical one, otherwise as columns.
 */
import { isUtf8 } from "node:buffer";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { batchOf, vectorOf } from "@gateway/core/type/build.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import type { Batch, TextBatch } from "@gateway/core/type/vector.ts";
import type { Span } from "@gateway/wire/trino/clientPage.ts";
import type { Cells } from "@gateway/wire/trino/clientRows.ts";
import { unescapeInPlace } from "@gateway/wire/trino/clientText.ts";
import { canonicalOf, hasText, type Canonical, type CellPage } from "./canonical.ts";
import { LongCells } from "./floats.ts";
import { readRows, scalarOf } from "./json.ts";
import { countRows, readCells } from "../scan/scan.ts";
import { ZoneReader } from "./zones.ts";

const broken = gatewayError("engine.broken", { detail: "rows that can not be read" });
const decoder = new TextDecoder();

/** What follows from the columns of a result. */
interface RowPlan {
  readonly types: readonly DataType[];
  readonly canonical: readonly (Canonical | undefined)[];
  /** A cell may be an array or an object. */
  readonly nested: boolean;
}

/** Kept with the columns, which results share (columns.ts). */
const plans = new WeakMap<readonly Column[], RowPlan>();

function planOf(columns: readonly Column[]): RowPlan {
  const known = plans.get(columns);
  if (known !== undefined) return known;
  const types = columns.map(({ type }) => type);
  const plan = { types, canonical: types.map(canonicalOf), nested: types.some(isNested) };
  plans.set(columns, plan);
  return plan;
}

/** Reads the pages of one result. Changes their bytes. */
export class RowReader {
  readonly #columns: readonly Column[];
  readonly #plan: RowPlan;
  readonly #native: boolean;
  readonly #zones = new ZoneReader();
  /** Cells of the page before this one. */
  #expected: number | undefined;

  /** `native`: the reader of the batches takes rows as Trino wrote them. */
  constructor(columns: readonly Column[], native: boolean) {
    this.#columns = columns;
    this.#plan = planOf(columns);
    this.#native = native;
  }

  /** The rows in a span. Fails with `engine.broken`, or `query.data` for a value that no neutral type holds. */
  read(bytes: Uint8Array, span: Span): Result<Batch, GatewayError> {
    if (!isUtf8(bytes.subarray(span.start, span.end))) return err(broken);
    if (this.#native) return nativeBatch(bytes, span);
    const { types, nested } = this.#plan;
    if (nested) return this.#values(bytes, span);
    const cells = readCells(bytes, span, types.length, this.#expected);
    if (cells === undefined) return err(broken);
    if (cells === "nested") return this.#values(bytes, span);
    this.#expected = cells.starts.length;
    return unescaped(bytes, cells) ? this.#canonicalBatch(bytes, cells) : err(broken);
  }

  #values(bytes: Uint8Array, span: Span): Result<Batch, GatewayError> {
    const rows = readRows(bytes, span, this.#plan.types);
    return rows.ok ? ok(batchOf(this.#columns, rows.value)) : rows;
  }

  #canonicalBatch(
    bytes: Uint8Array,
    { rows, starts, lengths }: Cells,
  ): Result<Batch, GatewayError> {
    const { types, canonical } = this.#plan;
    const long = new LongCells(bytes.length);
    const columns = types.length;
    const page: CellPage = { bytes, rows, columns, starts, lengths, long, zones: this.#zones };
    const without = new Set<number>();
    for (let column = 0; column < columns; column += 1) {
      const type = types[column];
      if (type !== undefined && !hasText(type)) without.add(column);
      const problem = canonical[column]?.(page, column);
      if (problem === "malformed") return err(broken);
      if (problem === "columns") without.add(column);
    }
    const all = long.behind(bytes);
    const text: TextBatch = { form: "text", rows, types, bytes: all, starts, lengths };
    return without.size === 0 ? ok(text) : columnar(text, without);
  }
}

function nativeBatch(bytes: Uint8Array, span: Span): Result<Batch, GatewayError> {
  const rows = countRows(bytes, span);
  if (rows < 0) return err(broken);
  const data = bytes.subarray(span.start, span.end);
  return ok({ form: "native", format: "trinoData", rows, bytes: data });
}

/** Whether cells of the type, or of one that became text here, can be arrays and objects. */
function isNested({ kind }: DataType): boolean {
  return kind === "list" || kind === "struct" || kind === "map";
}

function unescaped(bytes: Uint8Array, { starts, lengths, escaped }: Cells): boolean {
  for (const cell of escaped) {
    const length = unescapeInPlace(bytes, starts[cell] ?? 0, lengths[cell] ?? 0);
    if (length < 0) return false;
    lengths[cell] = length;
  }
  return true;
}

/** Columns of which some have no text: those are read value by value, the others as they are. */
function columnar(text: TextBatch, without: ReadonlySet<number>): Result<Batch, GatewayError> {
  const asText: DataType = { kind: "text" };
  const types = text.types.map((type, column) => (without.has(column) ? asText : type));
  const { rows, columns: vectors } = columnarOf({ ...text, types });
  const columns = [...vectors];
  for (const column of without) {
    const type = text.types[column] ?? asText;
    const values = valuesOf(text, column, type);
    if (!values.ok) return values;
    columns[column] = vectorOf(type, values.value);
  }
  return ok({ form: "columnar", rows, columns });
}

function valuesOf(
  { rows, types, bytes, starts, lengths }: TextBatch,
  column: number,
  type: DataType,
): Result<readonly Value[], GatewayError> {
  const values: Value[] = [];
  for (let row = 0; row < rows; row += 1) {
    const cell = row * types.length + column;
    const length = lengths[cell] ?? -1;
    const start = starts[cell] ?? 0;
    if (length < 0) {
      values.push(null);
      continue;
    }
    const value = scalarOf(type, decoder.decode(bytes.subarray(start, start + length)));
    if (!value.ok) return value;
    values.push(value.value);
  }
  return ok(values);
}
