/**
 * Parses the messages that a server sends: body of a frame in, message out.
 *
 * It checks shape only: counts against what is there, no byte left over. Which message may come now is decided
 * by whoever reads the connection. Rows are not here: `rowFits` judges them where they lie. Never throws.
 */
import { BodyReader, getInt32 } from "./bytes.ts";
import type { Charset } from "./charset/charset.ts";
import type { Frame } from "./frame.ts";
import type { Format, TransactionStatus } from "./message.ts";

/** One column as a server describes it. */
export interface ServerField {
  readonly name: string;
  /** Object id of the table and number of the column there; 0 for what is no column of a table. */
  readonly table: number;
  readonly column: number;
  readonly type: number;
  readonly size: number;
  readonly modifier: number;
  readonly format: Format;
}

/** Fields of an error or a notice by their letters, in the order sent. */
export type ServerReport = ReadonlyMap<string, string>;

/** What a server may send, but for rows and the data of a COPY. */
export type ServerMessage =
  | { readonly kind: "authenticationOk" }
  | { readonly kind: "authenticationCleartext" }
  | { readonly kind: "authenticationMd5"; readonly salt: Uint8Array }
  | { readonly kind: "authenticationSasl"; readonly mechanisms: readonly string[] }
  | { readonly kind: "authenticationSaslContinue"; readonly body: Uint8Array }
  | { readonly kind: "authenticationSaslFinal"; readonly body: Uint8Array }
  /** Kerberos and the like. */
  | { readonly kind: "authenticationOther"; readonly code: number }
  | { readonly kind: "backendKey"; readonly process: number; readonly secret: Uint8Array }
  | { readonly kind: "negotiateVersion" }
  | { readonly kind: "parameterStatus"; readonly name: string; readonly value: string }
  | { readonly kind: "ready"; readonly status: TransactionStatus }
  | { readonly kind: "parseComplete" }
  | { readonly kind: "bindComplete" }
  | { readonly kind: "closeComplete" }
  | { readonly kind: "noData" }
  | { readonly kind: "portalSuspended" }
  | { readonly kind: "emptyQuery" }
  | { readonly kind: "parameterDescription"; readonly types: readonly number[] }
  | { readonly kind: "rowDescription"; readonly fields: readonly ServerField[] }
  | { readonly kind: "commandComplete"; readonly tag: string }
  | { readonly kind: "copyIn"; readonly body: Uint8Array }
  | { readonly kind: "copyOut"; readonly body: Uint8Array }
  | { readonly kind: "copyBoth" }
  | { readonly kind: "copyDone" }
  | {
      readonly kind: "notification";
      readonly process: number;
      readonly channel: string;
      readonly payload: string;
    }
  | { readonly kind: "error"; readonly report: ServerReport }
  | { readonly kind: "notice"; readonly report: ServerReport };

/** Longest secret of a cancel key (protocol 3.2). */
const secretBytesMax = 256;
/** A message has 16 bits for a number of columns or parameters. */
const fieldBytesMin = 19;

type Made = ServerMessage | undefined;

/**
 * Reads a frame. Undefined for a message that is none, or that is not whole. Text that is not UTF-8 is none either; in
 * a character set a server writes some that it does not read itself, and these are question marks.
 */
export function parseServer({ type, body }: Frame, charset?: Charset): ServerMessage | undefined {
  const reader = new BodyReader(body, charset?.shown);
  const message = readers.get(type)?.(reader);
  return message !== undefined && reader.verdict() === "ok" ? message : undefined;
}

const readers: ReadonlyMap<number, (body: BodyReader) => Made> = new Map<
  number,
  (body: BodyReader) => Made
>([
  [letter("R"), readAuthentication],
  [letter("K"), readKey],
  [letter("v"), (body) => drained(body, { kind: "negotiateVersion" })],
  [letter("S"), (body) => ({ kind: "parameterStatus", name: body.text(), value: body.text() })],
  [letter("Z"), readReady],
  [letter("1"), () => ({ kind: "parseComplete" })],
  [letter("2"), () => ({ kind: "bindComplete" })],
  [letter("3"), () => ({ kind: "closeComplete" })],
  [letter("n"), () => ({ kind: "noData" })],
  [letter("s"), () => ({ kind: "portalSuspended" })],
  [letter("I"), () => ({ kind: "emptyQuery" })],
  [letter("t"), readParameters],
  [letter("T"), readFields],
  [letter("C"), (body) => ({ kind: "commandComplete", tag: body.text() })],
  [letter("G"), (body) => ({ kind: "copyIn", body: body.rest() })],
  [letter("H"), (body) => ({ kind: "copyOut", body: body.rest() })],
  [letter("W"), (body) => drained(body, { kind: "copyBoth" })],
  [letter("c"), () => ({ kind: "copyDone" })],
  [letter("A"), readNotification],
  [letter("E"), (body) => ({ kind: "error", report: readReport(body) })],
  [letter("N"), (body) => ({ kind: "notice", report: readReport(body) })],
]);

/** Type byte of DataRow and of CopyData. */
export const serverRow = letter("D");
export const serverCopyData = letter("d");

/** Every type that a server may send, for the frame reader. */
export const serverTypes: ReadonlySet<number> = new Set([
  ...readers.keys(),
  serverRow,
  serverCopyData,
]);

/**
 * True when the body of a DataRow between `start` and `end` holds exactly `columns` cells, each within it. A row
 * that is handed on must not lie to the client.
 */
export function rowFits(bytes: Uint8Array, start: number, end: number, columns: number): boolean {
  if (end - start < 2) return false;
  if ((((bytes[start] ?? 0) << 8) | (bytes[start + 1] ?? 0)) !== columns) return false;
  let at = start + 2;
  for (let left = columns; left > 0; left -= 1) {
    if (at + 4 > end) return false;
    const length = getInt32(bytes, at);
    at += 4;
    if (length === -1) continue;
    if (length < 0 || length > end - at) return false;
    at += length;
  }
  return at === end;
}

function readAuthentication(body: BodyReader): Made {
  const code = body.i32();
  switch (code) {
    case 0:
      return { kind: "authenticationOk" };
    case 3:
      return { kind: "authenticationCleartext" };
    case 5:
      return { kind: "authenticationMd5", salt: body.view(4) };
    case 10:
      return readMechanisms(body);
    case 11:
      return { kind: "authenticationSaslContinue", body: body.rest() };
    case 12:
      return { kind: "authenticationSaslFinal", body: body.rest() };
    default:
      return drained(body, { kind: "authenticationOther", code });
  }
}

function readMechanisms(body: BodyReader): Made {
  const mechanisms: string[] = [];
  for (let name = body.text(); name !== ""; name = body.text()) mechanisms.push(name);
  return { kind: "authenticationSasl", mechanisms };
}

function readKey(body: BodyReader): Made {
  const process = body.i32();
  const { left } = body;
  if (left < 4 || left > secretBytesMax) return undefined;
  // Kept as long as the connection, so it must not hold the chunk that it came in.
  return { kind: "backendKey", process, secret: body.rest().slice() };
}

function readReady(body: BodyReader): Made {
  const status = String.fromCharCode(body.u8());
  return status === "I" || status === "T" || status === "E" ? { kind: "ready", status } : undefined;
}

function readParameters(body: BodyReader): Made {
  const said = body.u16();
  // A server takes a text with more of them than 16 bits count, and says the lower bits alone.
  const count = Math.floor(body.left / 4);
  if (count * 4 !== body.left || (count & 0xffff) !== said) return undefined;
  const types = Array.from({ length: count }, () => body.i32() >>> 0);
  return { kind: "parameterDescription", types };
}

function readFields(body: BodyReader): Made {
  const count = body.u16();
  if (count * fieldBytesMin > body.left) return undefined;
  const fields: ServerField[] = [];
  for (let index = 0; index < count; index += 1) {
    const name = body.text();
    const table = body.i32() >>> 0;
    const column = signed16(body.u16());
    const type = body.i32() >>> 0;
    const size = signed16(body.u16());
    const modifier = body.i32();
    const format = body.u16();
    if (format !== 0 && format !== 1) return undefined;
    fields.push({ name, table, column, type, size, modifier, format });
  }
  return { kind: "rowDescription", fields };
}

function readNotification(body: BodyReader): Made {
  return {
    kind: "notification",
    process: body.i32(),
    channel: body.text(),
    payload: body.text(),
  };
}

/** Each field begins with its letter; a zero ends them. */
function readReport(body: BodyReader): ServerReport {
  const report = new Map<string, string>();
  for (let field = body.u8(); field !== 0; field = body.u8()) {
    report.set(String.fromCharCode(field), body.text());
  }
  return report;
}

function drained(body: BodyReader, message: ServerMessage): ServerMessage {
  body.rest();
  return message;
}

function signed16(value: number): number {
  return value < 0x8000 ? value : value - 0x1_0000;
}

function letter(text: string): number {
  return text.charCodeAt(0);
}
