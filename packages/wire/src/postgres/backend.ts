/** Writes the messages a server sends. Rows are not here: `dataRow` is the letter of their frames. */
import type { ByteWriter } from "./bytes.ts";
import type { BackendMessage, Report, RowField } from "./message.ts";

/** Type byte of DataRow, for writers that put rows straight into the buffer. */
export const dataRow = letter("D");
/** Type byte of CopyData, for the same. */
export const copyData = letter("d");

/** The single bytes that answer an encryption request before any message. */
export const sslAccepted = letter("S");
export const encryptionRefused = letter("N");

/** Appends one message to `out`. */
export function writeBackend(out: ByteWriter, message: BackendMessage): void {
  const start = out.begin(letterOf(message.kind));
  writeBody(out, message);
  out.end(start);
}

const letters = {
  authenticationOk: letter("R"),
  authenticationCleartext: letter("R"),
  authenticationSasl: letter("R"),
  authenticationSaslContinue: letter("R"),
  authenticationSaslFinal: letter("R"),
  backendKey: letter("K"),
  negotiateVersion: letter("v"),
  parameterStatus: letter("S"),
  ready: letter("Z"),
  parseComplete: letter("1"),
  bindComplete: letter("2"),
  closeComplete: letter("3"),
  noData: letter("n"),
  portalSuspended: letter("s"),
  emptyQuery: letter("I"),
  functionCallResponse: letter("V"),
  parameterDescription: letter("t"),
  rowDescription: letter("T"),
  commandComplete: letter("C"),
  copyOut: letter("H"),
  copyDone: letter("c"),
  error: letter("E"),
  notice: letter("N"),
} as const satisfies Record<BackendMessage["kind"], number>;
/** The two of every query by their names: one that is only known when it runs is searched for. */
function letterOf(kind: BackendMessage["kind"]): number {
  if (kind === "ready") return letters.ready;
  return kind === "commandComplete" ? letters.commandComplete : letters[kind];
}

function writeBody(out: ByteWriter, message: BackendMessage): void {
  switch (message.kind) {
    case "authenticationOk":
      return out.i32(0);
    case "authenticationCleartext":
      return out.i32(3);
    case "authenticationSasl":
      out.i32(10);
      return writeList(out, message.mechanisms);
    case "authenticationSaslContinue":
      out.i32(11);
      return out.bytes(message.body);
    case "authenticationSaslFinal":
      out.i32(12);
      return out.bytes(message.body);
    case "backendKey":
      out.i32(message.process);
      return out.bytes(message.secret);
    case "negotiateVersion":
      out.i32(message.version);
      out.i32(message.unknownOptions.length);
      for (const option of message.unknownOptions) out.text(option);
      return;
    case "parameterStatus":
      out.text(message.name);
      return out.text(message.value);
    case "ready":
      return out.u8(letter(message.status));
    case "parameterDescription":
      out.i16(message.types.length);
      for (const type of message.types) out.i32(type);
      return;
    case "rowDescription":
      out.i16(message.fields.length);
      for (const field of message.fields) writeField(out, field);
      return;
    case "commandComplete":
      return out.text(message.tag);
    case "copyOut":
      out.u8(message.format);
      out.i16(message.columns);
      for (let column = 0; column < message.columns; column += 1) out.i16(message.format);
      return;
    case "error":
    case "notice":
      return writeReport(out, message.report);
    case "functionCallResponse":
      if (message.value === undefined) return out.i32(-1);
      out.i32(message.value.length);
      return out.bytes(message.value);
    case "parseComplete":
    case "bindComplete":
    case "closeComplete":
    case "noData":
    case "portalSuspended":
    case "emptyQuery":
    case "copyDone":
      return;
  }
}

function writeField(out: ByteWriter, field: RowField): void {
  out.text(field.name);
  out.i32(field.table ?? 0);
  out.i16(field.column ?? 0);
  out.i32(field.type);
  out.i16(field.size);
  out.i32(field.modifier);
  out.i16(field.format);
}

function writeReport(out: ByteWriter, report: Report): void {
  writeReportField(out, "S", report.severity);
  writeReportField(out, "V", report.severity);
  writeReportField(out, "C", report.sqlState);
  writeReportField(out, "M", report.message);
  writeReportField(out, "D", report.detail);
  writeReportField(out, "H", report.hint);
  writeReportField(out, "P", report.position?.toString());
  writeReportField(out, "p", report.internalPosition);
  writeReportField(out, "q", report.internalQuery);
  writeReportField(out, "W", report.where);
  writeReportField(out, "s", report.schema);
  writeReportField(out, "t", report.table);
  writeReportField(out, "c", report.column);
  writeReportField(out, "d", report.type);
  writeReportField(out, "n", report.constraint);
  writeReportField(out, "F", report.file);
  writeReportField(out, "L", report.line);
  writeReportField(out, "R", report.routine);
  out.u8(0);
}

function writeReportField(out: ByteWriter, name: string, value: string | undefined): void {
  if (value === undefined) return;
  out.u8(letter(name));
  out.text(value);
}

function writeList(out: ByteWriter, items: readonly string[]): void {
  for (const item of items) out.text(item);
  out.u8(0);
}

function letter(text: string): number {
  return text.charCodeAt(0);
}
