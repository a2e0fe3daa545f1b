/**
 * Parses the messages a client sends after the start-up: body of a frame in, message out.
 *
 * It checks shape only: counts against what is there, no byte left over, text of the character set. The state machine
 * decides whether a message may come now. Never throws.
 */
import { decodeText } from "../text.ts";
import { BodyReader } from "./bytes.ts";
import type { Charset } from "./charset/charset.ts";
import type { Frame } from "./frame.ts";
import type { Format, FrontendMessage, Target, Violation } from "./message.ts";

export type FrontendStep =
  | { readonly kind: "message"; readonly message: FrontendMessage }
  | { readonly kind: "violation"; readonly violation: Violation };

type Made = FrontendMessage | undefined;

/** Reads a typed frame. `charset`: of its texts; undefined for UTF-8. */
export function parseFrontend(frame: Frame, charset?: Charset): FrontendStep {
  const known = messages.get(frame.type);
  if (known === undefined) return refuse({ kind: "unknownType", type: frame.type });
  const reader = new BodyReader(frame.body, charset?.decode);
  const message = known.read(reader);
  const verdict = reader.verdict();
  if (message === undefined || verdict === "short") {
    return refuse({ kind: "malformed", what: known.name });
  }
  if (verdict === "text") return refuse({ kind: "text", what: known.name });
  return { kind: "message", message };
}

/** Body of a password message where a clear-text password was asked for; undefined when it is not one. */
export function parsePassword(body: Uint8Array): string | undefined {
  const end = body.length - 1;
  if (end < 0 || body.indexOf(0) !== end) return undefined;
  return decodeText(body.subarray(0, end));
}

/** First step of SASL. `data` is undefined when the client sent none. */
export interface SaslInitial {
  readonly mechanism: string;
  readonly data: Uint8Array | undefined;
}

/** Body of a password message where SASL was offered; undefined when it is not one. The later steps are the body as it is. */
export function parseSaslInitial(body: Uint8Array): SaslInitial | undefined {
  const reader = new BodyReader(body);
  const mechanism = reader.text();
  const length = reader.i32();
  const data = length === -1 ? undefined : reader.view(length);
  return reader.verdict() === "ok" ? { mechanism, data } : undefined;
}

interface Known {
  readonly name: string;
  read(body: BodyReader): Made;
}

const messages: ReadonlyMap<number, Known> = new Map<number, Known>([
  [letter("Q"), { name: "Query", read: (body) => ({ kind: "query", sql: body.text() }) }],
  [letter("P"), { name: "Parse", read: readParse }],
  [letter("B"), { name: "Bind", read: readBind }],
  [letter("D"), { name: "Describe", read: (body) => readTarget(body, "describe") }],
  [letter("E"), { name: "Execute", read: readExecute }],
  [letter("C"), { name: "Close", read: (body) => readTarget(body, "close") }],
  [letter("H"), { name: "Flush", read: () => ({ kind: "flush" }) }],
  [letter("S"), { name: "Sync", read: () => ({ kind: "sync" }) }],
  [letter("X"), { name: "Terminate", read: () => ({ kind: "terminate" }) }],
  [letter("F"), { name: "FunctionCall", read: readFunctionCall }],
  [letter("p"), { name: "Password", read: (body) => ({ kind: "password", body: body.rest() }) }],
  [letter("d"), { name: "CopyData", read: (body) => ({ kind: "copyData", body: body.rest() }) }],
  [letter("c"), { name: "CopyDone", read: () => ({ kind: "copyDone" }) }],
  [letter("f"), { name: "CopyFail", read: (body) => ({ kind: "copyFail", reason: body.text() }) }],
]);

/** Every type a client may send, for the frame reader. */
export const frontendTypes: ReadonlySet<number> = new Set(messages.keys());

function readParse(body: BodyReader): Made {
  const statement = body.text();
  const sql = body.text();
  const count = body.u16();
  if (count * 4 > body.left) return undefined;
  const types = Array.from({ length: count }, () => body.i32() >>> 0);
  return { kind: "parse", statement, sql, types };
}

function readBind(body: BodyReader): Made {
  const portal = body.text();
  const statement = body.text();
  const formats = readFormats(body);
  const values = readValues(body);
  if (formats === undefined || values === undefined) return undefined;
  const resultFormats = readFormats(body);
  if (resultFormats === undefined) return undefined;
  return { kind: "bind", portal, statement, formats, values, resultFormats };
}

function readExecute(body: BodyReader): Made {
  const portal = body.text();
  // A negative limit means none, as in PostgreSQL.
  return { kind: "execute", portal, maxRows: Math.max(0, body.i32()) };
}

function readFunctionCall(body: BodyReader): Made {
  const called = body.i32() >>> 0;
  const formats = readFormats(body);
  const values = readValues(body);
  if (formats === undefined || values === undefined) return undefined;
  if (formats.length > 1 && formats.length !== values.length) return undefined;
  const resultFormat = body.u16();
  if (resultFormat !== 0 && resultFormat !== 1) return undefined;
  return { kind: "functionCall", function: called, formats, values, resultFormat };
}

function readTarget(body: BodyReader, kind: "describe" | "close"): Made {
  const target = targets.get(body.u8());
  const name = body.text();
  return target === undefined ? undefined : { kind, target, name };
}

const targets: ReadonlyMap<number, Target> = new Map<number, Target>([
  [letter("S"), "statement"],
  [letter("P"), "portal"],
]);

function readFormats(body: BodyReader): Format[] | undefined {
  const count = body.u16();
  if (count * 2 > body.left) return undefined;
  const formats: Format[] = [];
  for (let index = 0; index < count; index += 1) {
    const format = body.u16();
    if (format !== 0 && format !== 1) return undefined;
    formats.push(format);
  }
  return formats;
}

/** A count and that many values, each with its length; -1 is NULL and any other negative length is wrong. */
function readValues(body: BodyReader): (Uint8Array | undefined)[] | undefined {
  const count = body.u16();
  if (count * 4 > body.left) return undefined;
  const values: (Uint8Array | undefined)[] = [];
  for (let index = 0; index < count; index += 1) {
    const length = body.i32();
    values.push(length === -1 ? undefined : body.view(length));
  }
  return values;
}

function letter(text: string): number {
  return text.charCodeAt(0);
}

function refuse(violation: Violation): FrontendStep {
  return { kind: "violation", violation };
}
