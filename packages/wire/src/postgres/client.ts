/**
 * Writes the messages that a client sends: the start of a connection, its login, and statements.
 *
 * No texts are escaped here: a NUL inside one would end it early and let the rest be read as another field, so
 * the caller refuses such texts before (`isSendable`).
 */
import type { ByteWriter } from "./bytes.ts";
import type { Format, FrontendMessage } from "./message.ts";

const version = 0x0003_0000;
const sslCode = 80877103;
const cancelCode = 80877102;

/** True for a text that arrives whole: without a NUL, in whole characters. */
export function isSendable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** Asks for TLS; the server answers with one byte. */
export function writeSslRequest(out: ByteWriter): void {
  out.i32(8);
  out.i32(sslCode);
}

/** Asks a server, on a connection of its own, to end what another connection runs. */
export function writeCancelRequest(out: ByteWriter, process: number, secret: Uint8Array): void {
  out.i32(12 + secret.length);
  out.i32(cancelCode);
  out.i32(process);
  out.bytes(secret);
}

/** Begins a session under protocol 3.0. */
export function writeStartup(out: ByteWriter, parameters: ReadonlyMap<string, string>): void {
  const start = out.length;
  out.i32(0);
  out.i32(version);
  for (const [name, value] of parameters) {
    out.text(name);
    out.text(value);
  }
  out.u8(0);
  out.end(start);
}

/** A password, or a hash of it. */
export function writePassword(out: ByteWriter, password: string): void {
  const start = out.begin(letters.password);
  out.text(password);
  out.end(start);
}

/** The first step of SASL. */
export function writeSaslInitial(out: ByteWriter, mechanism: string, body: Uint8Array): void {
  const start = out.begin(letters.password);
  out.text(mechanism);
  out.i32(body.length);
  out.bytes(body);
  out.end(start);
}

/** A later step of SASL. */
export function writeSaslResponse(out: ByteWriter, body: Uint8Array): void {
  const start = out.begin(letters.password);
  out.bytes(body);
  out.end(start);
}

/** What a client sends once it is logged in. */
export type ClientMessage =
  | Exclude<FrontendMessage, { kind: "functionCall" | "password" | "query" | "parse" }>
  | (Extract<FrontendMessage, { kind: "query" | "parse" }> & {
      /** What stands before the text, as parts of it. */
      readonly before?: readonly string[];
    });

/** Appends one message to `out`. */
export function writeClient(out: ByteWriter, message: ClientMessage): void {
  const start = out.begin(letters[message.kind]);
  writeBody(out, message);
  out.end(start);
}

const letters = {
  query: letter("Q"),
  parse: letter("P"),
  bind: letter("B"),
  describe: letter("D"),
  execute: letter("E"),
  close: letter("C"),
  flush: letter("H"),
  sync: letter("S"),
  terminate: letter("X"),
  password: letter("p"),
  copyData: letter("d"),
  copyDone: letter("c"),
  copyFail: letter("f"),
} as const satisfies Record<Exclude<FrontendMessage["kind"], "functionCall">, number>;

const noParts: readonly string[] = [];

function writeBody(out: ByteWriter, message: ClientMessage): void {
  switch (message.kind) {
    case "query":
      return out.texts(message.before ?? noParts, message.sql);
    case "parse":
      out.text(message.statement);
      out.texts(message.before ?? noParts, message.sql);
      out.i16(message.types.length);
      for (const type of message.types) out.i32(type);
      return;
    case "bind":
      out.text(message.portal);
      out.text(message.statement);
      writeFormats(out, message.formats);
      writeValues(out, message.values);
      return writeFormats(out, message.resultFormats);
    case "execute":
      out.text(message.portal);
      return out.i32(message.maxRows);
    case "describe":
    case "close":
      out.u8(letter(message.target === "statement" ? "S" : "P"));
      return out.text(message.name);
    case "copyData":
      return out.bytes(message.body);
    case "copyFail":
      return out.text(message.reason);
    case "flush":
    case "sync":
    case "terminate":
    case "copyDone":
      return;
  }
}

function writeFormats(out: ByteWriter, formats: readonly Format[]): void {
  out.i16(formats.length);
  for (const format of formats) out.i16(format);
}

function writeValues(out: ByteWriter, values: readonly (Uint8Array | undefined)[]): void {
  out.i16(values.length);
  for (const value of values) {
    out.i32(value?.length ?? -1);
    if (value !== undefined) out.bytes(value);
  }
}

function letter(text: string): number {
  return text.charCodeAt(0);
}
