/** A result that is there at once, with its end: told in one event, because each costs a turn through all stages. */
import type { ColumnsEvent, WholeResult } from "@gateway/core/query/event.ts";
import type { NativeFormat } from "@gateway/core/type/vector.ts";
import { Repeated } from "@gateway/wire/repeated.ts";
import { packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import { wholeAnswer } from "@gateway/wire/mysql/wholeAnswer.ts";
import { packetsOfColumns, readColumn, type ReadColumn } from "../../starRocks/page/columns.ts";
import type { End } from "./rows.ts";

export interface Whole {
  readonly result: WholeResult;
  readonly end: End;
}

/** Of all definitions of a result. Longer ones are read packet by packet. */
const definitionsMax = 1_024;

/** The result in these bytes; undefined where they are anything else. `extended`: with MariaDB's blocks in definitions. */
export function readWhole(
  bytes: Uint8Array,
  format: NativeFormat,
  extended: boolean,
): Whole | undefined {
  const found = wholeAnswer(bytes);
  if (found === undefined) return undefined;
  const { definitions, columnsStatus, rows, warnings, status } = found;
  if (definitions.end - definitions.start > definitionsMax) return undefined;
  const known = extended ? knownExtended : knownColumns;
  const read = known.get(bytes, definitions.start, definitions.end);
  if (read === undefined) return undefined;
  const columns: ColumnsEvent = {
    kind: "columns",
    columns: read.columns,
    native: { format: "mysqlRows", bytes: read.bytes, status: columnsStatus },
  };
  const batch =
    rows.count === 0
      ? undefined
      : ({
          form: "native",
          format,
          rows: rows.count,
          bytes: bytes.subarray(rows.start, rows.end),
        } as const);
  const end = { affectedRows: 0, insertId: 0n, info: "", warnings, status };
  return { result: { columns, batch }, end };
}

interface Definitions {
  readonly columns: ColumnsEvent["columns"];
  readonly bytes: Uint8Array;
}

/** Applications read the same results again and again. */
const knownColumns = new Repeated<Definitions>(256, definitionsMax, (bytes) =>
  definitionsIn(bytes, false),
);
const knownExtended = new Repeated<Definitions>(256, definitionsMax, (bytes) =>
  definitionsIn(bytes, true),
);

function definitionsIn(definitions: Uint8Array, extended: boolean): Definitions | undefined {
  // What is kept is not part of the bytes that go on.
  const bytes = Buffer.from(definitions);
  const read: ReadColumn[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + packetHeaderBytes + bytes.readUIntLE(at, 3);
    const packet = bytes.subarray(at, end);
    const column = readColumn({ payload: packet.subarray(packetHeaderBytes), bytes: packet });
    if (column === undefined) return undefined;
    read.push(column);
    at = end;
  }
  return {
    columns: read.map(({ column }) => column),
    bytes: packetsOfColumns(read, extended),
  };
}
