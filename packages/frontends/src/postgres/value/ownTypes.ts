/**
 * Columns whose type is PostgreSQL's own and no neutral one: an engine that is a PostgreSQL gives their text and
 * the type's name. Clients are told the type itself, because drivers read catalogs by it.
 */
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { isNull, type Batch, type Vector } from "@gateway/core/type/vector.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import { pgTypes, type CatalogColumn } from "./types.ts";

/** The columns with the types that a PostgreSQL client knows them by. */
export function ownColumns(columns: readonly Column[]): readonly (Column | CatalogColumn)[] {
  const own = columns.map(ownType);
  if (own.every((name) => name === undefined)) return columns;
  return columns.map((column, index) => announced(column, own[index]));
}

type OwnName = "name" | "oid" | "timetz";

const ownNames: ReadonlyMap<string, OwnName> = new Map([
  ["NAME", "name"],
  ["OID", "oid"],
  ["TIMETZ", "timetz"],
]);

function ownType({ type, engineType = "" }: Column): OwnName | undefined {
  return type.kind === "text" ? ownNames.get(engineType) : undefined;
}

function announced(column: Column, name: OwnName | undefined): Column | CatalogColumn {
  if (name === undefined) return column;
  const { oid, size } = pgTypes[name];
  return { ...column, announced: { oid, size, modifier: -1 } };
}

/** How the cells of a column become binary. */
interface CellForm {
  readonly bytes: number;
  readonly write: (text: string, out: DataView, at: number) => void;
}

/** A name is its text in binary too. */
const cellForms: Readonly<Record<OwnName, CellForm | undefined>> = {
  name: undefined,
  oid: { bytes: 4, write: (text, out, at) => out.setUint32(at, Number(text)) },
  timetz: { bytes: 12, write: writeZonedTime },
};

/** How columns become binary that do so by their text; undefined where none has to. */
export function binaryForms(
  columns: readonly Column[],
  formats: readonly Format[],
): readonly (CellForm | undefined)[] | undefined {
  const found = columns.map((column, index) => {
    const name = formats[index] === 1 ? ownType(column) : undefined;
    return name === undefined ? undefined : cellForms[name];
  });
  return found.every((form) => form === undefined) ? undefined : found;
}

/** The batch with those columns in binary. */
export function withBinary(batch: Batch, forms: readonly (CellForm | undefined)[]): Batch {
  const { rows, columns } = columnarOf(batch);
  const written = columns.map((vector, index) => {
    const form = forms[index];
    return form === undefined ? vector : inBinary(vector, form);
  });
  return { form: "columnar", rows, columns: written };
}

const decoder = new TextDecoder();

function inBinary(vector: Vector, { bytes, write }: CellForm): Vector {
  const { length, offset, offsets, values } = vector;
  const cells = new DataView(new ArrayBuffer(length * bytes));
  for (let row = 0; row < length; row += 1) {
    if (isNull(vector, row)) continue;
    const text = values.subarray(offsets?.[offset + row], offsets?.[offset + row + 1]);
    write(decoder.decode(text), cells, row * bytes);
  }
  // Validity is indexed by the vector's own offset.
  const ends = Int32Array.from(
    { length: offset + length + 1 },
    (_, index) => Math.max(0, index - offset) * bytes,
  );
  const binary = { kind: "binary" } as const;
  return { ...vector, type: binary, values: new Uint8Array(cells.buffer), offsets: ends };
}

/** `12:34:56.789+02:30` */
const zonedTime = /^(\d+):(\d+):(\d+)(?:\.(\d+))?([+-])(\d+)(?::(\d+))?(?::(\d+))?$/;

/** Microseconds of the day, and the zone in seconds westwards. */
function writeZonedTime(text: string, out: DataView, at: number): void {
  const [, hour, minute, second, fraction = "", sign, ...zone] = zonedTime.exec(text) ?? [];
  if (sign === undefined) throw new Error("a PostgreSQL writes a time with its zone");
  const micros = Number(fraction.padEnd(6, "0"));
  out.setBigInt64(at, BigInt(secondsOf([hour, minute, second]) * 1_000_000 + micros));
  out.setInt32(at + 8, secondsOf(zone) * (sign === "+" ? -1 : 1));
}

function secondsOf(parts: readonly (string | undefined)[]): number {
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part = "0") => Number(part));
  return (hours * 60 + minutes) * 60 + seconds;
}
