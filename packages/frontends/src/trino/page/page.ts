/**
 * One answer as the JSON text around its rows. What changes with the request, the host in the links,
 * is added when it is sent, so that a repeated answer carries the same rows, state and number.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { ColumnsEvent, EngineWork, QueryStats } from "@gateway/core/query/event.ts";
import type { ResultColumn, Warning } from "@gateway/wire/trino/results.ts";
import { queryError } from "../errors.ts";
import type { Notice, Progress } from "../machine.ts";
import { framed, type Framed } from "./segment.ts";
import { resultColumn } from "../value/types.ts";

/** One numbered answer. */
export interface Page {
  readonly token: number;
  /** Paths of the next link and of the one that ends the query with the rows so far; undefined when no answer follows. */
  readonly next: { readonly path: string; readonly partialCancel: string | undefined } | undefined;
  /** `"columns":[…],`, or nothing while they are not known. */
  readonly columns: string;
  /** The rows and what stands around them, as one text when they are few; undefined when there are none. */
  readonly data: Framed | string | undefined;
  /** From `"stats"` to the closing brace. */
  readonly tail: string;
  /** Response headers that change the client's session. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Bytes kept for a page, but for a few hundred. */
export function pageBytes({ data }: Page): number {
  if (data === undefined) return 0;
  return typeof data === "string" ? data.length : data.rows.length;
}

/** Rows up to here are kept and sent as text, together with what surrounds them. */
const rowsTextBytesMax = 4 * 1024;

/** Where the links of an answer point. */
export interface Links {
  /** `https://gateway.example:8443`, without a slash at the end. */
  readonly baseUrl: string;
  readonly id: string;
}

/** The answer's text up to its rows. */
export function pageHead({ next, columns }: Page, { baseUrl, id }: Links): string {
  const info = `{"id":"${id}","infoUri":${JSON.stringify(`${baseUrl}/v1/query/${id}`)},`;
  if (next === undefined) return info + columns;
  const cancel =
    next.partialCancel === undefined
      ? ""
      : `"partialCancelUri":${JSON.stringify(baseUrl + next.partialCancel)},`;
  return `${info}${cancel}"nextUri":${JSON.stringify(baseUrl + next.path)},${columns}`;
}

/** Little ones as text, which is smaller to keep and sent as it is. */
export function keptData(data: Framed): Framed | string {
  const { before, rows, after } = data;
  return rows.length > rowsTextBytesMax ? data : before + utf8Text(rows) + after;
}

/** The same for rows without an encoding. */
export function plainData(rows: Uint8Array): Framed | string {
  return rows.length > rowsTextBytesMax ? framed(rows) : `"data":[${utf8Text(rows)}],`;
}

/** A `TextDecoder` takes microseconds for a few bytes. */
function utf8Text({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("utf8");
}

/** The columns as an answer lists them, in the engine's own words where it speaks the same protocol. */
export function columnsText({ columns, native }: ColumnsEvent): string {
  const text =
    native?.format === "trinoData"
      ? utf8Text(native.bytes)
      : JSON.stringify(columns.map(resultColumn));
  return `"columns":${text},`;
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
  const type =
    updateType === undefined ? "" : `,"updateType":${JSON.stringify(ownType(updateType))}`;
  return updateCount === undefined ? type : `${type},"updateCount":${updateCount}`;
}

/** Trino has one word for what other protocols call BEGIN. */
function ownType(updateType: string): string {
  return updateType === "BEGIN" ? "START TRANSACTION" : updateType;
}

function errorText(error: GatewayError, sql: string | undefined): string {
  return JSON.stringify(queryError(error, sql));
}

function warning({ code, text }: Notice): Warning {
  return { warningCode: { code: warningNumbers[code] ?? 0, name: code }, message: text };
}

/** Trino's own warnings; all others have none. Source: `StandardWarningCode`. */
const warningNumbers: Readonly<Record<string, number>> = {
  TOO_MANY_STAGES: 1,
  REDUNDANT_ORDER_BY: 2,
};

/**
 * Written by hand, because it stands in every answer and holds numbers only; the fields are those of
 * `StatementStats`. Where the engine says nothing of its work, the query is one split on one node:
 * nothing is claimed that we do not know.
 */
function statsText({ progress, elapsedMs, rows }: TailFacts, last: boolean): string {
  const { queuedMs, stats } = progress;
  const started = queuedMs !== undefined;
  const state = last ? progress.state : started ? "RUNNING" : "QUEUED";
  const queueMs = Math.round(stats?.queueMs ?? queuedMs ?? elapsedMs);
  const work = workOf(state, stats);
  const times = `"planningTimeMillis":0,"analysisTimeMillis":0,"cpuTimeMillis":${Math.round(work.cpuMs)},"wallTimeMillis":${Math.round(stats?.executionMs ?? 0)},"queuedTimeMillis":${queueMs},"elapsedTimeMillis":${Math.round(elapsedMs)},"finishingTimeMillis":0,"physicalInputTimeMillis":0`;
  const bytes = `"processedRows":${Math.max(rows, work.rowsRead)},"processedBytes":${work.bytesRead},"physicalInputBytes":0,"physicalWrittenBytes":0,"internalNetworkInputBytes":0,"peakMemoryBytes":${work.peakBytes},"spilledBytes":0`;
  return `{"state":"${state}","queued":${state === "QUEUED"},"scheduled":${started},${percentText(work)}${splitsText(work)},${times},${bytes}}`;
}

/** An engine's work as an answer shows it. */
interface ShownWork extends Omit<EngineWork, "percent"> {
  readonly percent: number | undefined;
}

/** One split that waits, runs, or is done. */
function workOf(state: Progress["state"], stats: QueryStats | undefined): ShownWork {
  if (stats?.work !== undefined) return engineWork(stats.work, state);
  const finished = state === "FINISHED";
  return {
    splitsQueued: state === "QUEUED" ? 1 : 0,
    splitsRunning: state === "RUNNING" ? 1 : 0,
    splitsDone: finished ? 1 : 0,
    nodes: state === "QUEUED" ? 0 : 1,
    cpuMs: 0,
    rowsRead: stats?.rows ?? 0,
    bytesRead: stats?.bytes ?? 0,
    peakBytes: 0,
    percent: finished ? 100 : undefined,
  };
}

/** What was last heard of a finished query may be a moment old; nothing of it runs any more. */
function engineWork(work: EngineWork, state: Progress["state"]): ShownWork {
  const { splitsQueued, splitsRunning, splitsDone } = work;
  const all = splitsQueued + splitsRunning + splitsDone;
  const finished = state === "FINISHED";
  const known = work.percent ?? (all === 0 ? undefined : (splitsDone * 100) / all);
  return {
    splitsQueued: finished ? 0 : splitsQueued,
    splitsRunning: finished ? 0 : splitsRunning,
    splitsDone: finished ? all : splitsDone,
    nodes: work.nodes,
    cpuMs: work.cpuMs,
    rowsRead: work.rowsRead,
    bytesRead: work.bytesRead,
    peakBytes: work.peakBytes,
    percent: finished ? 100 : known,
  };
}

function percentText({ percent, splitsRunning, splitsQueued, splitsDone }: ShownWork): string {
  if (percent === undefined) return "";
  const all = Math.max(splitsQueued + splitsRunning + splitsDone, 1);
  const running = (splitsRunning * 100) / all;
  return `"progressPercentage":${decimal(percent)},"runningPercentage":${decimal(running)},`;
}

/** Some clients read a number without a point as an integer. */
function decimal(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : value.toFixed(1);
}

function splitsText({ nodes, splitsQueued, splitsRunning, splitsDone }: ShownWork): string {
  const all = splitsQueued + splitsRunning + splitsDone;
  return `"nodes":${nodes},"totalSplits":${all},"queuedSplits":${splitsQueued},"runningSplits":${splitsRunning},"completedSplits":${splitsDone}`;
}
