/** Parses the packets that come before a connection has a protocol version: start-up, encryption requests, cancel. */
import { BodyReader } from "./bytes.ts";
import type { StartMessage, Violation } from "./message.ts";

const cancelCode = 80877102;
const sslCode = 80877103;
const gssCode = 80877104;

/** Longest start-up packet, as in PostgreSQL (MAX_STARTUP_PACKET_LENGTH). */
export const startBytesMax = 10_000;
/** Longest secret of a cancel request (protocol 3.2). */
const secretBytesMax = 256;

export type StartStep =
  | { readonly kind: "message"; readonly message: StartMessage }
  | { readonly kind: "violation"; readonly violation: Violation };

/** Reads the body of an untyped frame. Never throws. */
export function parseStart(body: Uint8Array): StartStep {
  const reader = new BodyReader(body);
  const code = reader.i32();
  switch (code) {
    case sslCode:
      return finish(reader, "SSLRequest", { kind: "sslRequest" });
    case gssCode:
      return finish(reader, "GSSENCRequest", { kind: "gssRequest" });
    case cancelCode:
      return parseCancel(reader);
    default:
      return parseStartup(reader, code);
  }
}

function parseCancel(reader: BodyReader): StartStep {
  const process = reader.i32();
  const length = reader.left;
  if (length < 4 || length > secretBytesMax) return malformed("CancelRequest");
  return finish(reader, "CancelRequest", { kind: "cancelRequest", process, secret: reader.rest() });
}

function parseStartup(reader: BodyReader, code: number): StartStep {
  const major = code >>> 16;
  const minor = code & 0xffff;
  // The layout of another major version is unknown: its parameters are not read.
  if (major !== 3 && reader.left > 0) reader.rest();
  const parameters = new Map<string, string>();
  if (major === 3) {
    for (let name = reader.text(); name !== ""; name = reader.text()) {
      parameters.set(name, reader.text());
    }
  }
  return finish(reader, "StartupMessage", { kind: "startup", major, minor, parameters });
}

function finish(reader: BodyReader, what: string, message: StartMessage): StartStep {
  const verdict = reader.verdict();
  if (verdict === "ok") return { kind: "message", message };
  if (verdict === "text") return { kind: "violation", violation: { kind: "text", what } };
  return malformed(what);
}

function malformed(what: string): StartStep {
  return { kind: "violation", violation: { kind: "malformed", what } };
}
