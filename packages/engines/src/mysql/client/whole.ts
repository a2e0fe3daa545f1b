/** A result that is there at once, with its end: told in one event, because each costs a turn through all stages. */
import type { ColumnsEvent, WholeResult } from "@gateway/core/query/event.ts";
import type { Batch, NativeFormat } from "@gateway/core/type/vector.ts";
import { Repeated } from "@gateway/wire/repeated.ts";
import { packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import {
  wholeAnswer,
  wholeRows,
  type WholeAnswer,
  type WholeRows,
} from "@gateway/wire/mysql/wholeAnswer.ts";
import { packetsOfColumns, readColumn, type ReadColumn } from "../../starRocks/page/columns.ts";

export interface Whole {
  readonly result: WholeResult;
  /** What the end says. */
  readonly warnings: number;
  readonly status: number;
}

/** Of all definitions of a result. Longer ones are read packet by packet. */
const definitionsMax = 1_024;

/** The result in these bytes; undefined where they are anything else. `extended`: with MariaDB's blocks in definitions. */
export function readWhole(
  bytes: Uint8Array,
  format: NativeFormat,
  extended: boolean,
): Whole | undefined {
  const last = extended ? lastExtended : lastHead;
  if (last !== undefined && beginsWith(bytes, last.bytes)) {
    const rows = wholeRows(bytes, last.bytes.length, last.sequence);
    return rows && wholeOf(last.columns, bytes, rows, format);
  }
  const found = wholeAnswer(bytes);
  if (found === undefined) return undefined;
  const head = headIn(bytes, found, extended);
  if (head === undefined) return undefined;
  if (extended) lastExtended = head;
  else lastHead = head;
  return wholeOf(head.columns, bytes, found.rows, format);
}

function wholeOf(
  columns: ColumnsEvent,
  bytes: Uint8Array,
  { start, end, count, warnings, status }: WholeRows,
  format: NativeFormat,
): Whole {
  const batch: Batch | undefined =
    count === 0
      ? undefined
      : { form: "native", format, rows: count, bytes: bytes.subarray(start, end) };
  return { result: { columns, batch }, warnings, status };
}

/** All that stands before the rows of a result. */
interface Head {
  /** As it came. */
  readonly bytes: Uint8Array;
  /** Number of the packet behind it. */
  readonly sequence: number;
  readonly status: number;
  /** One for all results with this head, so that whoever writes it tells it by its identity. */
  readonly columns: ColumnsEvent;
}

/** That of the answer before: one that begins as that did is read no further than its rows. */
let lastHead: Head | undefined;
let lastExtended: Head | undefined;

function headIn(
  bytes: Uint8Array,
  { columns: count, definitions, columnsStatus: status, rows }: WholeAnswer,
  extended: boolean,
): Head | undefined {
  const { start, end } = definitions;
  if (end - start > definitionsMax) return undefined;
  const read = (extended ? knownExtended : knownColumns).get(bytes, start, end);
  if (read === undefined) return undefined;
  if (read.head?.status === status) return read.head;
  const native = { format: "mysqlRows", bytes: read.bytes, status } as const;
  read.head = {
    // A copy: what came lies in memory with others'.
    bytes: Uint8Array.prototype.slice.call(bytes, 0, rows.start),
    sequence: count + 3,
    status,
    columns: { kind: "columns", columns: read.columns, native },
  };
  return read.head;
}

function beginsWith(bytes: Uint8Array, head: Uint8Array): boolean {
  const { length } = head;
  if (bytes.length < length) return false;
  for (let at = 0; at < length; at += 1) if (bytes[at] !== head[at]) return false;
  return true;
}

interface Definitions {
  readonly columns: ColumnsEvent["columns"];
  readonly bytes: Uint8Array;
  /** The last one with these definitions. */
  head: Head | undefined;
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
    head: undefined,
  };
}
