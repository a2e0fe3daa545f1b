/**
 * What of a record may leave its process, by the redaction of the configuration.
 *
 * `full` keeps everything and adds the hashes. `maskLiterals` keeps the shape of the statement but none of
 * its values. `metadata` keeps an explicit list of fields, so that a field added later is dropped until
 * someone lists it. It costs some 50 µs a record, so the writer of the record calls it, not the query's line.
 */
import type { QueryRecord, RoutingStep } from "@gateway/contract/record.ts";
import { errorCatalogue } from "@gateway/contract/error.ts";
import { lexRules, type Dialect } from "../sql/dialect.ts";
import { digestSql } from "../sql/mask/fingerprint.ts";
import { hashReading } from "../sql/mask/hash.ts";
import { maskLiterals } from "../sql/mask/mask.ts";
import { fitRecord } from "./fit.ts";
import { maskText } from "./maskText.ts";
import { valuesOf, type Reading, type Values } from "./values.ts";

/** How much of a query its record may tell. Config: `history.redaction`. */
export const redactions = ["full", "maskLiterals", "metadata"] as const;
export type Redaction = (typeof redactions)[number];

/** The record that may be stored or sent, with its hashes, from the record that the pipeline made. */
export function redact(record: QueryRecord, mode: Redaction): QueryRecord {
  return fitRecord(redacted(record, mode));
}

/** What may be shown of a statement before it has a record; undefined where nothing may. */
export function redactSql(
  sql: string,
  dialects: readonly Dialect[],
  mode: Redaction,
): string | undefined {
  switch (mode) {
    case "full":
      return sql;
    case "maskLiterals":
      return digestText(sql, dialects);
    case "metadata":
      return undefined;
  }
}

/** The dialect of that name; text of an unknown one is read with doubt. */
export function dialectOf(name: string | undefined): Dialect {
  return name !== undefined && Object.hasOwn(lexRules, name) ? (name as Dialect) : "generic";
}

function redacted(record: QueryRecord, mode: Redaction): QueryRecord {
  switch (mode) {
    case "full":
      return withHashes(record);
    case "maskLiterals":
      return masked(record);
    case "metadata":
      return metadataOf(record);
  }
}

/** Filled in, not copied: each query has a record of some thirty fields, and whoever writes it is its only owner. */
function withHashes(record: QueryRecord): QueryRecord {
  const { sql } = record;
  if (sql === undefined) return record;
  const filled: { -readonly [Field in keyof QueryRecord]: QueryRecord[Field] } = record;
  const { sourceDialect } = record;
  if (lastHashed?.sql !== sql || lastHashed.sourceDialect !== sourceDialect) {
    const sqlHash = hashReading(sql);
    const digestHash = digestHashOf(record);
    filled.sqlHash = sqlHash;
    filled.digestHash = digestHash;
    if (sql.length <= keptCharsMax) lastHashed = { sql, sourceDialect, sqlHash, digestHash };
    return record;
  }
  filled.sqlHash = lastHashed.sqlHash;
  filled.digestHash = lastHashed.digestHash;
  return record;
}

/** Of the last statement: mostly the next one's are the same. */
let lastHashed: Pick<QueryRecord, "sql" | "sourceDialect" | "sqlHash" | "digestHash"> | undefined;
/** A longer text is not kept to be compared with. */
const keptCharsMax = 1_024;

function digestHashOf({ sql, sourceDialect, digestHash }: QueryRecord): string | undefined {
  return sql === undefined ? digestHash : digestSql(sql, dialectOf(sourceDialect)).fingerprint;
}

// ---------------------------------------------------------------- metadata

/** The fields that reveal nothing of a statement's text. Everything else is dropped. */
function metadataOf(record: QueryRecord): QueryRecord {
  return {
    proxyQueryId: record.proxyQueryId,
    backendQueryId: record.backendQueryId,
    createdAt: record.createdAt,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    worker: record.worker,
    frontend: record.frontend,
    user: record.user,
    clientAddress: record.clientAddress,
    clusterGroup: record.clusterGroup,
    cluster: record.cluster,
    engine: record.engine,
    catalog: record.catalog,
    schema: record.schema,
    sourceDialect: record.sourceDialect,
    targetDialect: record.targetDialect,
    digestHash: digestHashOf(record),
    status: record.status,
    errorCode: record.errorCode,
    rowsReturned: record.rowsReturned,
    bytesReturned: record.bytesReturned,
    queueMs: record.queueMs,
    executionMs: record.executionMs,
    backendIdentityMode: record.backendIdentityMode,
    enginePrincipal: record.enginePrincipal,
    engineStats: record.engineStats,
    revision: record.revision,
    // The schema requires them, but they are text of a client or of a rule: empty.
    tags: {},
    routingTrace: [],
    policyActions: [],
  };
}

// ---------------------------------------------------------------- masked literals

function masked(record: QueryRecord): QueryRecord {
  const dialects = readers(record);
  const values = valuesOf(readingsOf(record, dialects));
  const hide = (text: string): string => maskText(text, values);
  return {
    ...record,
    sqlHash: undefined,
    digestHash: digestHashOf(record),
    sql: digestText(record.sql, dialects),
    translatedSql: maskedSql(record.translatedSql, dialectOf(record.targetDialect)),
    errorMessage: maskedError(record, values),
    tags: Object.fromEntries(
      Object.entries(record.tags).map(([key, value]) => [hide(key), hide(value)]),
    ),
    routingTrace: record.routingTrace.map((step) => maskedStep(step, hide)),
    policyActions: record.policyActions.map(hide),
  };
}

/** The dialects in which the text was read: also the engine's where it got the client's own text. */
function readers(record: QueryRecord): readonly Dialect[] {
  const source = dialectOf(record.sourceDialect);
  if (record.targetDialect === undefined || record.translatedSql !== undefined) return [source];
  const target = dialectOf(record.targetDialect);
  return target === source ? [source] : [source, target];
}

function readingsOf(
  { sql = "", translatedSql, targetDialect }: QueryRecord,
  dialects: readonly Dialect[],
): readonly Reading[] {
  const own = dialects.map((dialect) => ({ sql, dialect }));
  if (translatedSql === undefined) return own;
  return [...own, { sql: translatedSql, dialect: dialectOf(targetDialect) }];
}

/** Undefined unless all dialects read the same text: what is a name to one may be a value to the other. */
function digestText(sql: string | undefined, dialects: readonly Dialect[]): string | undefined {
  if (sql === undefined) return undefined;
  const texts = new Set(dialects.map((dialect) => digestSql(sql, dialect).text));
  const [text] = texts;
  return texts.size === 1 ? text : undefined;
}

function maskedSql(sql: string | undefined, dialect: Dialect): string | undefined {
  if (sql === undefined) return undefined;
  const text = maskLiterals(sql, dialect);
  return text.ok ? text.value : undefined;
}

/** Where the values are not known, the catalogue's own text: any word of the engine may be a value then. */
function maskedError({ errorCode, errorMessage }: QueryRecord, values: Values): string | undefined {
  if (errorMessage === undefined) return undefined;
  const text = catalogueText(errorCode);
  if (errorMessage === text || values.kind !== "literals") return text;
  return maskText(errorMessage, values);
}

function catalogueText(code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(errorCatalogue, code)
    ? errorCatalogue[code as keyof typeof errorCatalogue].text
    : undefined;
}

/** Indexes that the pipeline itself writes stay readable: `queryRegex[2]`, `rule 3: `. */
function maskedStep({ step, outcome }: RoutingStep, hide: (text: string) => string): RoutingStep {
  const [place = ""] = /^rule \d{1,4}: /.exec(outcome) ?? [];
  const isPlace = /^[A-Za-z]{1,32}(?:\[\d{1,4}\])?$/.test(step);
  return {
    step: isPlace ? step : hide(step),
    outcome: place + hide(outcome.slice(place.length)),
  };
}
