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

function ownType({ type, engineType = "" }: Column): "name" | "oid" | undefined {
  if (type.kind !== "text") return undefined;
  return engineType === "OID" ? "oid" : engineType === "NAME" ? "name" : undefined;
}

function announced(column: Column, name: "name" | "oid" | undefined): Column | CatalogColumn {
  if (name === undefined) return column;
  const { oid, size } = pgTypes[name];
  return { ...column, announced: { oid, size, modifier: -1 } };
}

/** The columns whose cells have to become an oid in binary; undefined where there are none. */
export function binaryOids(
  columns: readonly Column[],
  formats: readonly Format[],
): readonly boolean[] | undefined {
  const found = columns.map((column, index) => ownType(column) === "oid" && formats[index] === 1);
  return found.includes(true) ? found : undefined;
}

/** The batch with those columns in binary. */
export function withBinaryOids(batch: Batch, binary: readonly boolean[]): Batch {
  const { rows, columns } = columnarOf(batch);
  const read = columns.map((vector, index) =>
    binary[index] === true ? numbersOf(vector) : vector,
  );
  return { form: "columnar", rows, columns: read };
}

const oidBytes = 4;

/** Digits as four bytes each, in the order of the wire. */
function numbersOf(vector: Vector): Vector {
  const { length, offset, offsets, values } = vector;
  const numbers = new DataView(new ArrayBuffer(length * oidBytes));
  for (let row = 0; row < length; row += 1) {
    if (isNull(vector, row)) continue;
    let number = 0;
    const end = offsets?.[offset + row + 1] ?? 0;
    for (let at = offsets?.[offset + row] ?? 0; at < end; at += 1) {
      number = number * 10 + (values[at] ?? 0) - zero;
    }
    numbers.setUint32(row * oidBytes, number);
  }
  // Validity is indexed by the vector's own offset.
  const ends = Int32Array.from({ length: offset + length + 1 }, (_, index) => {
    return Math.max(0, index - offset) * oidBytes;
  });
  return {
    ...vector,
    type: { kind: "binary" },
    values: new Uint8Array(numbers.buffer),
    offsets: ends,
  };
}

const zero = 0x30;
