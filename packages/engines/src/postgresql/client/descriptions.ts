/**
 * Descriptions of rows that servers gave before, and what is made of them. A statement that comes again has the same
 * one; to read it and to tell it anew was a twentieth of a short statement (`docs/query-cost.md`).
 */
import type { Column } from "@gateway/core/type/type.ts";
import { Repeated } from "@gateway/wire/repeated.ts";
import type { Charset } from "@gateway/wire/postgres/charset/charset.ts";
import type { Frame } from "@gateway/wire/postgres/frame.ts";
import {
  parseServer,
  type ServerField,
  type ServerMessage,
} from "@gateway/wire/postgres/server.ts";
import { ruleOf, type ColumnRule } from "../types.ts";

/** Of one description. Longer ones are read anew. */
const bytesMax = 1_024;
const known = new Repeated<ServerMessage>(256, bytesMax, (bytes) =>
  parseServer({ type: rowDescription, body: bytes }),
);

const rowDescription = 0x54;

/** The message in a frame, in texts of this character set; undefined for one that is none. */
export function readMessage(frame: Frame, charset: Charset | undefined): ServerMessage | undefined {
  // What is known by its bytes is known in UTF-8.
  if (frame.type === rowDescription && charset === undefined) return readDescription(frame.body);
  return parseServer(frame, charset);
}

/** The RowDescription with this body; undefined where it is none. The same bytes have the same object. */
export function readDescription(
  bytes: Uint8Array,
  start: number = 0,
  end: number = bytes.length,
): ServerMessage | undefined {
  return known.get(bytes, start, end);
}

const rulesOfFields = new WeakMap<readonly ServerField[], readonly ColumnRule[]>();
const nativeOfFields = new WeakMap<readonly ServerField[], readonly Column[]>();

/** How the cells of each column are read. */
export function rulesOf(fields: readonly ServerField[]): readonly ColumnRule[] {
  let rules = rulesOfFields.get(fields);
  if (rules === undefined) {
    rules = fields.map(({ type, modifier }) => ruleOf(type, modifier));
    rulesOfFields.set(fields, rules);
  }
  return rules;
}

/** Columns of a result. `native`: with what the server says of them, and the same object for the same fields. */
export function columnsOf(fields: readonly ServerField[], native: boolean): readonly Column[] {
  if (!native) return columnsMade(fields, false);
  let columns = nativeOfFields.get(fields);
  if (columns === undefined) {
    columns = columnsMade(fields, true);
    nativeOfFields.set(fields, columns);
  }
  return columns;
}

function columnsMade(fields: readonly ServerField[], native: boolean): readonly Column[] {
  const rules = rulesOf(fields);
  return fields.map((field, index) => {
    const { type, name: engineType } = rules[index] ?? ruleOf(field.type, field.modifier);
    const { name, type: oid, size, modifier, table, column } = field;
    // Written out: what is spread has a shape of its own each time.
    if (!native)
      return engineType === undefined
        ? { name, type, nullable: true }
        : { name, type, nullable: true, engineType };
    const announced = { oid, size, modifier, table, column };
    return engineType === undefined
      ? { name, type, nullable: true, announced }
      : { name, type, nullable: true, engineType, announced };
  });
}
