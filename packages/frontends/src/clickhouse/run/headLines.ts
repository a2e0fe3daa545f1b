/**
 * The lines of an answer's head, written at once for an answer that is all here: most of them are those of the answer before,
 * which need not be looked through again.
 */
import { checkHeader } from "../../listener/http/plain/response.ts";
import type { Work } from "./answer.ts";

/** What an engine's headers were in the last answer, by their place, and their lines. They say nothing of who asked. */
const names: string[] = [];
const values: string[] = [];
const lines: string[] = [];
const placesMax = 16;
const valueLengthMax = 256;

/** Throws for a value that no header may hold. `queryId` may be empty. */
export function headLines(
  queryId: string,
  passed: Readonly<Record<string, string>>,
  bodyBytes: number,
  work: Work,
): string {
  let text = queryId === "" ? "" : `X-ClickHouse-Query-Id: ${headerText(queryId)}\r\n`;
  let at = 0;
  let isSummed = false;
  for (const name in passed) {
    text += lineAt(at, name, passed[name] ?? "");
    isSummed ||= name === "x-clickhouse-summary";
    at += 1;
  }
  if (!isSummed) text += `X-ClickHouse-Summary: ${summaryOf(work)}\r\n`;
  return `${text}Content-Length: ${bodyBytes}\r\n`;
}

function lineAt(at: number, name: string, value: string): string {
  const known = lines[at];
  if (known !== undefined && names[at] === name && values[at] === value) return known;
  checkHeader(name, value);
  const line = `${name}: ${value}\r\n`;
  // Without a gap, as each place comes behind the one before.
  if (at <= lines.length && at < placesMax && value.length <= valueLengthMax) {
    names[at] = name;
    values[at] = value;
    lines[at] = line;
  }
  return line;
}

export function summaryOf({ resultRows, writtenRows, elapsedMs }: Work): string {
  const elapsedNs = Math.round(elapsedMs * 1e6);
  const read = '"read_rows":"0","read_bytes":"0"';
  const written = `"written_rows":"${writtenRows}","written_bytes":"0","total_rows_to_read":"0"`;
  const result = `"result_rows":"${resultRows}","result_bytes":"0","elapsed_ns":"${elapsedNs}"`;
  return `{${read},${written},${result}}`;
}

/** A client's own text as a header may carry it. */
export function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text)
    ? text
    : encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\ufffd"));
}
