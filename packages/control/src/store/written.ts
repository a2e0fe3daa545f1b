/**
 * A record as text, written once: the whole is hashed, and what has no column of its own is what the
 * database keeps.
 *
 * Twenty thousand records a second pass here, so there is one walk over a record and no copy of it.
 */
import { hash } from "node:crypto";
import { canonicalJson } from "@gateway/contract/canonical.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { sameSteps } from "@gateway/core/record/steps.ts";
import { Recent, type Recognised } from "@gateway/core/tool/recent.ts";
import type { RecordRest } from "./records.sql.ts";
import { storableRecord } from "./storable.ts";
import type { IncomingRecord } from "./store.ts";

/** The members of a record that have neither a column nor a place in the column `figures`, as JSON without the braces. */
export interface RecordParts {
  /** The record's own. */
  readonly rest: string;
  /** The same for many records. */
  readonly shared: string;
}

/** How a record was written for its store; where it was not, the store writes it. */
export interface Writing {
  /** From `incomingRecord`, which writes a record anyway. */
  readonly parts?: RecordParts;
  /** From `wholeRecord`: the canonical JSON itself, for a store that keeps a record as one text. */
  readonly whole?: string;
}

export interface WrittenRecord extends RecordParts {
  /** Canonical JSON of the record. */
  readonly whole: string;
}

/** Numbers that every record has its own of, in the order of the column `figures`. */
export const figureFields = [
  "createdAt",
  "startedAt",
  "finishedAt",
  "queueMs",
  "executionMs",
  "rowsReturned",
  "bytesReturned",
] as const satisfies readonly (keyof RecordRest)[];

/** Throws for a record that holds what no store can; `storableRecord` has none of it. */
export function writtenRecord(record: QueryRecord): WrittenRecord {
  const form = formOf(record);
  const statement = statementIn(form, record);
  const tags = tagsIn(form, record);
  const whole = wholeIn(form, record, statement, tags);
  return { whole, rest: ownIn(form, tags), shared: sharedIn(form, statement, tags) };
}

/** Canonical JSON of a record, which throws as well. */
function wholeOf(record: QueryRecord): string {
  const form = formOf(record);
  return wholeIn(form, record, statementIn(form, record), tagsIn(form, record));
}

/** Each member by its name: a walk over a list of names reads every one of them as if it had never seen a record. */
function wholeIn(form: Form, record: QueryRecord, statement: string, tags: string): string {
  const { startedAt } = record;
  return (
    `${form.toBytes}${figure(record.bytesReturned)}${form.toCreated}${figure(record.createdAt)}` +
    `${form.toExecution}${figure(record.executionMs)},"finishedAt":${figure(record.finishedAt)}` +
    `${form.toId}${canonicalJson(record.proxyQueryId)},"queueMs":${figure(record.queueMs)}` +
    `${form.toRows}${figure(record.rowsReturned)}${form.toStatement}${statement}` +
    (startedAt === undefined ? "" : `,"startedAt":${figure(startedAt)}`) +
    `${form.toTags}${tags}${form.end}`
  );
}

function figure(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError("not a JSON number");
  return String(value);
}

/** Members behind one another, each as `,"key":value`; those that a record has not are left out. */
function membersOf(record: QueryRecord, ...keys: readonly (keyof QueryRecord)[]): string {
  let text = "";
  for (const key of keys) {
    const value = record[key];
    if (value !== undefined) text += `,"${key}":${canonicalJson(value)}`;
  }
  return text;
}

// ---------------------------------------------------------------- what many records have in common

/** So many are remembered: users times statements times clusters, of those that are busy at one moment. */
const formsMax = 16;
/** A longer text is not kept to be compared with. */
const keptCharsMax = 16_384;

/**
 * How the records of one user's statement are written, without its values: all members that are the same in each of
 * them, joined up to the next that is not. In canonical order (RFC 8785 §3.2.3), with a comma in front.
 */
class Form implements Recognised<QueryRecord> {
  readonly backendIdentityMode: string | undefined;
  readonly catalog: string | undefined;
  readonly clientAddress: string;
  readonly cluster: string | undefined;
  readonly clusterGroup: string | undefined;
  readonly digestHash: string | undefined;
  readonly engine: string | undefined;
  readonly enginePrincipal: string | undefined;
  readonly errorCode: string | undefined;
  readonly frontend: string;
  readonly policyActions: readonly string[];
  readonly revision: string;
  readonly routingTrace: QueryRecord["routingTrace"];
  readonly schema: string | undefined;
  readonly sourceDialect: string;
  readonly status: string;
  readonly targetDialect: string | undefined;
  readonly translatedSql: string | undefined;
  readonly user: string;
  readonly worker: string | undefined;

  readonly toBytes: string;
  readonly toCreated: string;
  readonly toExecution: string;
  readonly toId: string;
  readonly toRows: string;
  readonly toStatement: string;
  readonly toTags: string;
  readonly end: string;
  /** Without a comma in front. */
  readonly own: string;
  /** Up to the statement, without a comma in front; then what is behind the tags. */
  readonly sharedStart: string;
  readonly sharedEnd: string;

  /** The last record's statement, its tags, and what it shared: apart, because applications write values into statements. */
  sql: string | undefined;
  sqlHash: string | undefined;
  statement = "";
  tags: QueryRecord["tags"] = {};
  tagsText = "{}";
  sharedOf: string | undefined;
  sharedTags = "";
  shared = "";

  constructor(record: QueryRecord) {
    this.backendIdentityMode = record.backendIdentityMode;
    this.catalog = record.catalog;
    this.clientAddress = record.clientAddress;
    this.cluster = record.cluster;
    this.clusterGroup = record.clusterGroup;
    this.digestHash = record.digestHash;
    this.engine = record.engine;
    this.enginePrincipal = record.enginePrincipal;
    this.errorCode = record.errorCode;
    this.frontend = record.frontend;
    // Copies: whoever made the lists may still add to them.
    this.policyActions = record.policyActions.slice();
    this.revision = record.revision;
    this.routingTrace = record.routingTrace.slice();
    this.schema = record.schema;
    this.sourceDialect = record.sourceDialect;
    this.status = record.status;
    this.targetDialect = record.targetDialect;
    this.translatedSql = record.translatedSql;
    this.user = record.user;
    this.worker = record.worker;

    const mode = membersOf(record, "backendIdentityMode");
    const engineId = membersOf(record, "backendQueryId");
    const client = membersOf(record, "catalog", "clientAddress");
    const engine = membersOf(record, "digestHash", "engine", "enginePrincipal");
    const stats = membersOf(record, "engineStats");
    const [sharedStats, ownStats] = isEmpty(record.engineStats) ? [stats, ""] : ["", stats];
    const code = membersOf(record, "errorCode");
    const message = membersOf(record, "errorMessage");
    const actions = membersOf(record, "policyActions");
    const way = membersOf(record, "revision", "routingTrace");
    const schema = membersOf(record, "schema", "sourceDialect");
    const target = membersOf(record, "targetDialect", "translatedSql");
    this.toBytes = `{${joined(mode, engineId, ',"bytesReturned":').slice(1)}`;
    this.toCreated = joined(client, membersOf(record, "cluster", "clusterGroup"), ',"createdAt":');
    this.toExecution = joined(engine, stats, code, message, ',"executionMs":');
    this.toId = joined(membersOf(record, "frontend"), actions, ',"proxyQueryId":');
    this.toRows = joined(way, ',"rowsReturned":');
    this.toStatement = joined(schema);
    this.toTags = joined(membersOf(record, "status"), ',"tags":');
    this.end = joined(target, membersOf(record, "user", "worker"), "}");
    this.own = joined(engineId, ownStats, message).slice(1);
    this.sharedStart = joined(mode, client, engine, sharedStats, actions, way, schema).slice(1);
    this.sharedEnd = joined(target);
  }

  /** Whether nothing of it is another record's alone, nor too long to be kept. */
  get common(): boolean {
    return (
      this.own === "" &&
      this.toBytes.length + this.toExecution.length + this.toId.length < keptCharsMax &&
      this.toRows.length + this.end.length < keptCharsMax
    );
  }

  suits(record: QueryRecord): boolean {
    return this.#asked(record) && this.#went(record);
  }

  #asked(record: QueryRecord): boolean {
    return (
      this.digestHash === record.digestHash &&
      this.user === record.user &&
      this.clientAddress === record.clientAddress &&
      this.catalog === record.catalog &&
      this.schema === record.schema &&
      this.sourceDialect === record.sourceDialect &&
      this.frontend === record.frontend
    );
  }

  #went(record: QueryRecord): boolean {
    return (
      this.clusterGroup === record.clusterGroup &&
      this.cluster === record.cluster &&
      this.status === record.status &&
      this.worker === record.worker &&
      this.engine === record.engine &&
      this.enginePrincipal === record.enginePrincipal &&
      this.backendIdentityMode === record.backendIdentityMode &&
      this.targetDialect === record.targetDialect &&
      this.translatedSql === record.translatedSql &&
      this.revision === record.revision &&
      this.errorCode === record.errorCode &&
      record.errorMessage === undefined &&
      record.backendQueryId === undefined &&
      sameSteps(this.routingTrace, record.routingTrace) &&
      sameTexts(this.policyActions, record.policyActions) &&
      isEmpty(record.engineStats)
    );
  }
}

const forms = new Recent<QueryRecord, Form>(formsMax);

function formOf(record: QueryRecord): Form {
  const known = forms.find(record);
  if (known !== undefined) return known;
  const made = new Form(record);
  if (made.common) forms.keep(made);
  return made;
}

function statementIn(form: Form, record: QueryRecord): string {
  if (form.sql === record.sql && form.sqlHash === record.sqlHash) return form.statement;
  const statement = membersOf(record, "sql", "sqlHash");
  if (statement.length > keptCharsMax) return statement;
  form.sql = record.sql;
  form.sqlHash = record.sqlHash;
  form.statement = statement;
  return statement;
}

function tagsIn(form: Form, { tags }: QueryRecord): string {
  if (sameTags(form.tags, tags)) return form.tagsText;
  const text = canonicalJson(tags);
  if (text.length > keptCharsMax) return text;
  form.tags = tags;
  form.tagsText = text;
  return text;
}

/** A client may give each of its queries a tag of its own. */
function ownIn({ own }: Form, tags: string): string {
  if (tags === "{}") return own;
  return `${own}${own === "" ? "" : ","}"tags":${tags}`;
}

function sharedIn(form: Form, statement: string, tags: string): string {
  if (form.sharedOf === statement && form.sharedTags === tags) return form.shared;
  const none = tags === "{}" ? ',"tags":{}' : "";
  const shared = joined(form.sharedStart, statement, none, form.sharedEnd);
  if (shared.length > keptCharsMax) return shared;
  form.sharedOf = statement;
  form.sharedTags = tags;
  form.shared = shared;
  return shared;
}

/**
 * One flat text. One that grew is a tree of its parts, which would be walked with each record that is written, and by
 * the collector for each that waits for the database.
 */
function joined(...texts: readonly string[]): string {
  return texts.join("");
}

function sameTexts(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at += 1) if (some[at] !== others[at]) return false;
  return true;
}

function sameTags(some: QueryRecord["tags"], others: QueryRecord["tags"]): boolean {
  if (some === others) return true;
  let left = 0;
  for (const key in some) {
    if (some[key] !== others[key]) return false;
    left += 1;
  }
  for (const _key in others) left -= 1;
  return left === 0;
}

function isEmpty(value: object): boolean {
  for (const _key in value) return false;
  return true;
}

// ---------------------------------------------------------------- what stores take

/** A storable record with its hash. */
export function incomingRecord(record: QueryRecord): IncomingRecord {
  // Each by its name: "the others", as a pattern, takes as long as the hash.
  const { whole, rest, shared } = writtenRecord(record);
  return { record, contentHash: contentHashOf(whole), parts: { rest, shared } };
}

/** The same for a store that keeps the text. Its hash is made when somebody asks, which is when a record comes again. */
export function wholeRecord(record: QueryRecord): IncomingRecord {
  return new Whole(record, wholeOf(record));
}

class Whole implements IncomingRecord {
  readonly record: QueryRecord;
  readonly whole: string;

  constructor(record: QueryRecord, whole: string) {
    this.record = record;
    this.whole = whole;
  }

  get contentHash(): string {
    return contentHashOf(this.whole);
  }
}

/** `sha256:…` of a record's canonical JSON, in UTF-8 where it is bytes. */
export function contentHashOf(canonical: string | Uint8Array): string {
  return `sha256:${hash("sha256", canonical, "hex")}`;
}

/** What of a record has no column, as every store can hold it. */
export function partsOf({ record, parts }: IncomingRecord): RecordParts {
  return parts ?? writtenRecord(storableRecord(record));
}

/** All of it together, with the figures. */
export function restOf(incoming: IncomingRecord): string {
  const { rest, shared } = partsOf(incoming);
  const figures = membersOf(incoming.record, ...figureFields).slice(1);
  return [figures, rest, shared].filter((part) => part !== "").join(",");
}
