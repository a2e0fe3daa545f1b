/**
 * One answer as the JSON text around its rows. What changes with the request, the host in the links,
 * is added when it is sent, so that a repeated answer carries the same rows, state and number.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { statementPathOf } from "@gateway/wire/trino/path.ts";
import type { ResultColumn, Warning } from "@gateway/wire/trino/results.ts";
import { queryError } from "./errors.ts";
import type { Notice, Progress } from "./machine.ts";
import { resultColumn } from "./types.ts";

/** One numbered answer. */
export interface Page {
  readonly token: number;
  /** Whether an answer follows. */
  readonly more: boolean;
  /** Where the next link says the query is. */
  readonly phase: "queued" | "executing";
  /** `"columns":[…],`, or nothing while they are not known. */
  readonly columns: string;
  /** The rows without the brackets around them, as text when they are few; undefined when there are none. */
  readonly rows: Uint8Array | string | undefined;
  /** From `"stats"` to the closing brace. */
  readonly tail: string;
  /** Response headers that change the client's session. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Rows up to here are kept and sent as text, together with what surrounds them. */
export const rowsTextBytesMax = 4 * 1024;

/** Where the links of an answer point. */
export interface Links {
  /** `https://gateway.example:8443`, without a slash at the end. */
  readonly baseUrl: string;
  readonly id: string;
  readonly slug: string;
}

/** The answer's text up to its rows. */
export function pageHead(page: Page, links: Links): string {
  const info = `{"id":"${links.id}","infoUri":${JSON.stringify(`${links.baseUrl}/v1/query/${links.id}`)},`;
  const data = page.rows === undefined ? "" : '"data":[';
  return `${info}${nextLink(page, links)}${page.columns}${data}`;
}

/** The answer's text behind its rows. */
export function pageTail(page: Page): string {
  return page.rows === undefined ? page.tail : `],${page.tail}`;
}

function nextLink(page: Page, { baseUrl, id, slug }: Links): string {
  if (!page.more) return "";
  const path = statementPathOf({ phase: page.phase, id, slug, token: page.token + 1 });
  return `"nextUri":${JSON.stringify(baseUrl + path)},`;
}

/** The columns as an answer lists them. A statement that changed rows shows their number, as Trino does. */
export function columnsText(columns: readonly Column[] | undefined): string {
  if (columns === undefined) return "";
  return `"columns":${JSON.stringify(columns.map(resultColumn))},`;
}

/** The one column that Trino answers a statement with that changed rows. */
const changedRows: ResultColumn = {
  name: "rows",
  type: "bigint",
  typeSignature: { rawType: "bigint", arguments: [] },
};

/** Columns of a finished statement without a result: the number of changed rows, or none at all. */
export function resultlessColumns(updateCount: number | undefined): string {
  return `"columns":${JSON.stringify(updateCount === undefined ? [] : [changedRows])},`;
}

/** What the text behind the rows is made of. */
export interface TailFacts {
  readonly progress: Progress;
  readonly elapsedMs: number;
  /** Rows handed to the client so far. */
  readonly rows: number;
  /** The client's own text, when positions count in it. */
  readonly sql: string | undefined;
}

/** The text from `"stats"` to the end. An answer that is not the last hides how the statement ended. */
export function tailText(facts: TailFacts, last: boolean): string {
  const { notices } = facts.progress;
  const warnings = notices.length === 0 ? "[]" : JSON.stringify(notices.map(warning));
  const end = last ? endText(facts.progress, facts.sql) : "";
  return `"stats":${statsText(facts, last)},"warnings":${warnings}${end}}`;
}

function endText({ error, updateType, updateCount }: Progress, sql: string | undefined): string {
  if (error !== undefined) return `,"error":${errorText(error, sql)}`;
  const type = updateType === undefined ? "" : `,"updateType":${JSON.stringify(updateType)}`;
  return updateCount === undefined ? type : `${type},"updateCount":${updateCount}`;
}

function errorText(error: GatewayError, sql: string | undefined): string {
  return JSON.stringify(queryError(error, sql));
}

function warning({ code, text }: Notice): Warning {
  return { warningCode: { code: 0, name: code }, message: text };
}

/**
 * The query as one split on one node: nothing is claimed that we do not know. Written by hand, because
 * it stands in every answer and holds numbers only; the fields are those of `StatementStats`.
 */
function statsText({ progress, elapsedMs, rows }: TailFacts, last: boolean): string {
  const { queuedMs, stats } = progress;
  const started = queuedMs !== undefined;
  const state = last ? progress.state : started ? "RUNNING" : "QUEUED";
  const finished = state === "FINISHED";
  const queueMs = Math.round(stats?.queueMs ?? queuedMs ?? elapsedMs);
  const done = finished ? '"progressPercentage":100.0,"runningPercentage":0.0,' : "";
  const splits = `"totalSplits":1,"queuedSplits":${started ? 0 : 1},"runningSplits":${state === "RUNNING" ? 1 : 0},"completedSplits":${finished ? 1 : 0}`;
  const times = `"planningTimeMillis":0,"analysisTimeMillis":0,"cpuTimeMillis":0,"wallTimeMillis":${Math.round(stats?.executionMs ?? 0)},"queuedTimeMillis":${queueMs},"elapsedTimeMillis":${Math.round(elapsedMs)},"finishingTimeMillis":0,"physicalInputTimeMillis":0`;
  const bytes = `"processedRows":${Math.max(rows, stats?.rows ?? 0)},"processedBytes":${stats?.bytes ?? 0},"physicalInputBytes":0,"physicalWrittenBytes":0,"internalNetworkInputBytes":0,"peakMemoryBytes":0,"spilledBytes":0`;
  return `{"state":"${state}","queued":${state === "QUEUED"},"scheduled":${started},${done}"nodes":${started ? 1 : 0},${splits},${times},${bytes}}`;
}
