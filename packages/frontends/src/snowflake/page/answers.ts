/** The JSON documents that drivers get: results, failures, states of running statements. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { failureOf, inProgress, inProgressAsync, placeOf } from "../errors.ts";
import type { Execution } from "../run/execution.ts";
import type { RowFormat } from "../run/rowFormat.ts";
import type { Submitted } from "../run/registry.ts";
import { parametersOf, type SessionState } from "../session/state.ts";
import { uuidOf } from "../value/queryUuid.ts";
import { rowType } from "../value/rowType.ts";

/** By the ranges that drivers know: queries, changes of rows, of objects, of the session. */
const typeIds = {
  query: 0x1000,
  insert: 0x3100,
  update: 0x3200,
  delete: 0x3300,
  merge: 0x3400,
  change: 0x3000,
  several: 0xa000,
  session: 0x4000,
  transaction: 0x5000,
  object: 0x6000,
} as const;

/** What every answer has. */
export interface Envelope {
  readonly data: unknown;
  readonly code: string | null;
  readonly message: string | null;
  readonly success: boolean;
}

export function succeeded(data: unknown): Envelope {
  return { data, code: null, message: null, success: true };
}

/** A failure; `queryId` and `sql` where a statement failed. */
export function failed(
  error: GatewayError,
  { queryId, sql }: { readonly queryId?: string; readonly sql?: string } = {},
): Envelope {
  const { code, sqlState, message } = failureOf(error);
  const place = placeOf(error, sql);
  const data = {
    internalError: error.code === "internal.bug",
    errorCode: code,
    age: 0,
    sqlState,
    queryId: queryId === undefined ? null : uuidOf(queryId),
    ...place,
    type: "COMPILATION",
  };
  return { data, code, message, success: false };
}

/** A statement that still runs. `asynchronous`: the driver asked not to wait. */
export function running({ id }: Submitted, asynchronous: boolean): Envelope {
  return {
    data: {
      queryId: uuidOf(id),
      getResultUrl: `/queries/${uuidOf(id)}/result`,
      queryAbortsAfterSecs: 300,
      progressDesc: null,
    },
    code: asynchronous ? inProgressAsync : inProgress,
    message: "Query execution in progress.",
    success: true,
  };
}

/** How chunks of a result are reached: `urlOf` its number. */
export interface Links {
  urlOf(chunk: number): string;
}

/** What goes around the rows of a result. */
export interface ResultParts {
  readonly submitted: Submitted;
  readonly links: (execution: Execution) => Links;
  readonly state: SessionState;
  readonly nowMs: number;
}

/**
 * The result of a statement that is over, as JSON text: rows are spliced in as they lie, because parsing them to
 * write them again would cost more than making them did.
 */
export function resultText(parts: ResultParts): string {
  const { submitted, state } = parts;
  const { executions } = submitted;
  const last = executions.at(-1);
  const failure = executions.find(({ outcome }) => outcome?.kind === "failed")?.outcome;
  if (failure?.kind === "failed") {
    return JSON.stringify(failed(failure.error, { queryId: submitted.id, sql: submitted.sql }));
  }
  if (last === undefined) return JSON.stringify(succeeded(null));
  const isSeveral = submitted.several;
  const rows = executions.length > 1 ? allRows(submitted) : rowsOf(last);
  const facts = {
    parameters: parametersOf(state),
    rowtype: rows.columns.map(rowType),
    total: rows.total,
    returned: rows.total,
    queryId: uuidOf(submitted.id),
    databaseProvider: null,
    finalDatabaseName: state.database ?? null,
    finalSchemaName: state.schema ?? null,
    finalWarehouseName: state.warehouse ?? null,
    finalRoleName: "",
    numberOfBinds: executions[0]?.polled.query.parameters.length ?? 0,
    arrayBindSupported: true,
    statementTypeId: isSeveral ? typeIds.several : rows.typeId,
    version: 1,
    sendResultTime: Math.round(parts.nowMs),
    queryResultFormat: rows.format,
    ...(isSeveral ? childrenOf(executions) : {}),
    ...(rows.chunks.length === 0
      ? {}
      : { chunks: chunksOf(last, parts.links(last)), chunkHeaders: {} }),
  };
  const head = JSON.stringify(facts);
  const inline =
    rows.format === "json" ? `"rowset":${rows.inline}` : `"rowsetBase64":"${rows.inline}"`;
  return `{"data":${head.slice(0, -1)},${inline}},"code":null,"message":null,"success":true}`;
}

/** Rows of one statement, as a driver reads them. */
export interface Rows {
  readonly columns: readonly Column[];
  readonly format: RowFormat["name"];
  /** Those of the answer itself: a JSON array, or a stream in base64. */
  readonly inline: string;
  readonly total: number;
  readonly chunks: Execution["spool"]["chunks"];
  readonly typeId: number;
}

/** The rows of a statement that is over; where it has none, what it did. */
export function rowsOf(execution: Execution): Rows {
  const { columns, outcome, spool } = execution;
  const updateType = outcome?.kind === "done" ? outcome.done.updateType : undefined;
  if (columns !== undefined && columns.length > 0) {
    const { inline, rows: total, chunks } = spool;
    return { columns, format: spool.format.name, inline, total, chunks, typeId: typeIds.query };
  }
  const count = outcome?.kind === "done" ? outcome.done.updateCount : undefined;
  const typeId = typeIdOf(updateType);
  const none = { chunks: [], format: "json", typeId } as const;
  if (count === undefined) {
    const inline = '[["Statement executed successfully."]]';
    return { ...none, columns: [status], inline, total: 1 };
  }
  return { ...none, columns: [counted(typeId)], inline: `[["${count}"]]`, total: 1 };
}

/** What several statements did: those of a text, or pieces of one INSERT with bound arrays. */
function allRows({ executions, several: isSeveral }: Submitted): Rows {
  const counts = executions.flatMap(({ outcome }) =>
    outcome?.kind === "done" && outcome.done.updateCount !== undefined
      ? [outcome.done.updateCount]
      : [],
  );
  const none = { total: 1, chunks: [], format: "json" } as const;
  if (!isSeveral) {
    const sum = counts.reduce((total, count) => total + count, 0);
    const typeId = typeIds.insert;
    return { ...none, columns: [counted(typeId)], inline: `[["${sum}"]]`, typeId };
  }
  const inline = '[["Multiple statements executed successfully."]]';
  return { ...none, columns: [several], inline, typeId: typeIds.several };
}

function childrenOf(executions: readonly Execution[]) {
  return {
    resultIds: executions.map(({ polled }) => uuidOf(polled.query.id)).join(),
    resultTypes: executions.map((one) => rowsOf(one).typeId).join(),
  };
}

function chunksOf({ spool }: Execution, links: Links) {
  return spool.chunks.map(({ rows, uncompressed, compressed }, index) => ({
    url: links.urlOf(index),
    rowCount: rows,
    uncompressedSize: uncompressed,
    compressedSize: compressed,
  }));
}

const text = { kind: "text" } as const;
const status: Column = { name: "status", type: text, nullable: false };
const several: Column = { name: "multiple statement execution", type: text, nullable: false };

function counted(typeId: number): Column {
  const verbs: Readonly<Record<number, string>> = {
    [typeIds.insert]: "inserted",
    [typeIds.update]: "updated",
    [typeIds.delete]: "deleted",
  };
  const name = `number of rows ${verbs[typeId] ?? "affected"}`;
  return { name, type: { kind: "decimal", precision: 19, scale: 0 }, nullable: false };
}

function typeIdOf(updateType: string | undefined): number {
  switch (updateType) {
    case "INSERT":
      return typeIds.insert;
    case "UPDATE":
      return typeIds.update;
    case "DELETE":
      return typeIds.delete;
    case "MERGE":
      return typeIds.merge;
    case "BEGIN":
    case "COMMIT":
    case "ROLLBACK":
    case "START TRANSACTION":
      return typeIds.transaction;
    case "SET":
    case "USE":
    case undefined:
      return typeIds.session;
    default:
      return /^(CREATE|DROP|ALTER|COMMENT|TRUNCATE)/.test(updateType)
        ? typeIds.object
        : typeIds.change;
  }
}
