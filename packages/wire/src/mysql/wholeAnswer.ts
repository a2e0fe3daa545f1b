/**
 * The answer to one command where all of it is here: a result of columns and rows, found by where its packets begin and
 * end. Whatever is not exactly such an answer is left to who reads packets.
 */
import { packetBytesMax, packetHeaderBytes, serverStatus } from "./protocol.ts";

/** Where its parts lie in the bytes. */
export interface WholeAnswer {
  /** The number of columns. */
  readonly columns: number;
  /** Definitions of the columns, as whole packets. */
  readonly definitions: { readonly start: number; readonly end: number };
  /** The server's status flags behind them. */
  readonly columnsStatus: number;
  readonly rows: WholeRows;
}

/** Rows, as whole packets, and what their end says. */
export interface WholeRows {
  readonly start: number;
  readonly end: number;
  readonly count: number;
  readonly warnings: number;
  readonly status: number;
}

const endOfPackets = 0xfe;
const errorPacket = 0xff;
/** Ends before EOF packets were given up have so many bytes. */
const endBytes = 5;
/** The number of columns in one byte. */
const columnsMax = 0xfa;
/** Where one ends, another result or a cursor's rows follow. */
const notAll = serverStatus.moreResults | serverStatus.cursorExists;

/** Undefined unless the bytes are one result with its end, of packets in order, and nothing else. */
export function wholeAnswer(bytes: Uint8Array): WholeAnswer | undefined {
  const columns = bytes[packetHeaderBytes] ?? 0;
  let at = endOf(bytes, 0, 1);
  if (at !== packetHeaderBytes + 1 || columns === 0 || columns > columnsMax) return undefined;
  let sequence = 2;
  const start = at;
  for (let column = 0; column < columns; column += 1, sequence += 1) {
    const end = endOf(bytes, at, sequence);
    const first = bytes[at + packetHeaderBytes];
    if (end === 0 || first === endOfPackets || first === errorPacket) return undefined;
    at = end;
  }
  const definitions = { start, end: at };
  if (!isEnd(bytes, at, sequence)) return undefined;
  const columnsStatus = u16(bytes, at + packetHeaderBytes + 3);
  const rows = wholeRows(bytes, at + packetHeaderBytes + endBytes, sequence + 1);
  if (rows === undefined || (columnsStatus & notAll) !== 0) return undefined;
  return { columns, definitions, columnsStatus, rows };
}

/** The same of the rows from here on, of which the first has this number: undefined where they do not end with the bytes. */
export function wholeRows(bytes: Uint8Array, start: number, first: number): WholeRows | undefined {
  let at = start;
  let count = 0;
  while (!isEnd(bytes, at, first + count)) {
    const end = endOf(bytes, at, first + count);
    // What is long may begin as an end does; it is no short answer.
    if (end === 0 || (bytes[at + packetHeaderBytes] ?? errorPacket) >= endOfPackets)
      return undefined;
    at = end;
    count += 1;
  }
  const status = u16(bytes, at + packetHeaderBytes + 3);
  if ((status & notAll) !== 0) return undefined;
  if (at + packetHeaderBytes + endBytes !== bytes.length) return undefined;
  const warnings = u16(bytes, at + packetHeaderBytes + 1);
  return { start, end: at, count, warnings, status };
}

/** Where the packet of this number ends; 0 where it is another's, empty, a part of one, or not all here. */
function endOf(bytes: Uint8Array, at: number, sequence: number): number {
  const length = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
  const end = at + packetHeaderBytes + length;
  const sound = length > 0 && length < packetBytesMax && end <= bytes.length;
  return sound && bytes[at + 3] === (sequence & 0xff) ? end : 0;
}

function isEnd(bytes: Uint8Array, at: number, sequence: number): boolean {
  if (bytes[at + packetHeaderBytes] !== endOfPackets) return false;
  return endOf(bytes, at, sequence) === at + packetHeaderBytes + endBytes;
}

function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}
