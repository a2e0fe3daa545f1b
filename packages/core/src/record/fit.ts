/**
 * Brings a record into the limits of its schema, so that no store and no control plane has to refuse
 * it: texts cut, numbers finite, and no character that JSON or PostgreSQL can not hold.
 *
 * It hides nothing; that is redact.ts.
 */
import { recordTextMax, type QueryRecord } from "@gateway/contract/record.ts";

const nameCharsMax = 1_024;
const idCharsMax = 128;
const listMax = 1_000;

/** The record as it may be sent. */
export function fitRecord(record: QueryRecord): QueryRecord {
  return {
    ...record,
    proxyQueryId: cut(record.proxyQueryId, idCharsMax),
    backendQueryId: name(record.backendQueryId),
    worker: name(record.worker),
    frontend: cut(record.frontend, nameCharsMax),
    user: cut(record.user, nameCharsMax),
    clientAddress: cut(record.clientAddress, nameCharsMax),
    clusterGroup: name(record.clusterGroup),
    cluster: name(record.cluster),
    engine: name(record.engine),
    catalog: name(record.catalog),
    schema: name(record.schema),
    tags: Object.fromEntries(
      Object.entries(record.tags).map(([key, value]) => [text(key), text(value)]),
    ),
    sql: optionalText(record.sql),
    translatedSql: optionalText(record.translatedSql),
    errorMessage: optionalText(record.errorMessage),
    rowsReturned: count(record.rowsReturned),
    bytesReturned: count(record.bytesReturned),
    queueMs: count(record.queueMs),
    executionMs: count(record.executionMs),
    enginePrincipal: name(record.enginePrincipal),
    routingTrace: record.routingTrace
      .slice(0, listMax)
      .map(({ step, outcome }) => ({ step: text(step), outcome: text(outcome) })),
    policyActions: record.policyActions.slice(0, listMax).map(text),
    engineStats: Object.fromEntries(
      Object.entries(record.engineStats)
        .filter(([, value]) => Number.isFinite(value))
        .map(([key, value]) => [text(key), value]),
    ),
  };
}

function text(value: string): string {
  return cut(value, recordTextMax);
}

function optionalText(value: string | undefined): string | undefined {
  return value === undefined ? undefined : text(value);
}

function name(value: string | undefined): string | undefined {
  return value === undefined ? undefined : cut(value, nameCharsMax);
}

/** Half a character has no bytes, and PostgreSQL takes no NUL. */
function cut(value: string, charsMax: number): string {
  // Nearly always: nothing is copied then.
  if (value.length <= charsMax && value.isWellFormed() && !value.includes("\0")) return value;
  return value.slice(0, charsMax).toWellFormed().replaceAll("\0", "\uFFFD");
}

function count(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}
