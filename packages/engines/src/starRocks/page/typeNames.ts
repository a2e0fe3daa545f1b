/** StarRocks' types as their columns are defined on its MySQL wire, for the reference. */
import type { DataType } from "@gateway/core/type/type.ts";
import { collationId, columnFlag, columnType } from "@gateway/wire/mysql/protocol.ts";
import { columnFrom, type Definition } from "./columns.ts";

function definition(type: number, more: Partial<Definition> = {}): Definition {
  return { type, collation: collationId.utf8mb4, length: 0, flags: 0, decimals: 0, ...more };
}

const unsigned = { flags: columnFlag.unsigned };

const definitions: readonly (readonly [name: string, definition: Definition])[] = [
  ["NULL", definition(columnType.null)],
  ["BOOLEAN", definition(columnType.tiny)],
  ["TINYINT", definition(columnType.tiny)],
  ["SMALLINT", definition(columnType.short)],
  ["INT", definition(columnType.long)],
  ["BIGINT", definition(columnType.longlong)],
  ["TINYINT UNSIGNED", definition(columnType.tiny, unsigned)],
  ["SMALLINT UNSIGNED", definition(columnType.short, unsigned)],
  ["INT UNSIGNED", definition(columnType.long, unsigned)],
  ["BIGINT UNSIGNED", definition(columnType.longlong, unsigned)],
  ["FLOAT", definition(columnType.float)],
  ["DOUBLE", definition(columnType.double)],
  ["DECIMAL(12,2)", definition(columnType.newDecimal, { length: 14, decimals: 2 })],
  ["LARGEINT", definition(columnType.string)],
  ["CHAR", definition(columnType.string)],
  ["VARCHAR", definition(columnType.varString)],
  ["TIME", definition(columnType.time)],
  ["ARRAY", definition(columnType.varString)],
  ["MAP", definition(columnType.varString)],
  ["STRUCT", definition(columnType.varString)],
  ["VARBINARY", definition(columnType.blob, { collation: collationId.binary })],
  ["DATE", definition(columnType.date)],
  ["DATETIME", definition(columnType.datetime)],
  ["JSON", definition(columnType.json)],
];

/** What each type is here, by StarRocks' name of it; unsigned integers are those of other servers of MySQL's family. */
export const namedTypes: readonly (readonly [name: string, type: DataType])[] = definitions.map(
  ([name, found]) => [name, columnFrom(name, found).column.type],
);
