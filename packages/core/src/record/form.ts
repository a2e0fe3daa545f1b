/** What many records have in common, and how one of them is written from that. */
import { canonicalJson } from "@gateway/contract/canonical.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { sameSteps } from "./steps.ts";
import { Recent, type Recognised } from "../tool/recent.ts";

/** What records are found by. */
export type RecordFace = Pick<
  QueryRecord,
  "user" | "status" | "clusterGroup" | "cluster" | "frontend" | "errorCode" | "worker"
>;

/** What every record has its own of. */
export type RecordFigures = Pick<
  QueryRecord,
  | "proxyQueryId"
  | "createdAt"
  | "startedAt"
  | "finishedAt"
  | "queueMs"
  | "executionMs"
  | "rowsReturned"
  | "bytesReturned"
>;

/** So many are remembered: users times statements times clusters, of those that are busy at one moment. */
const formsMax = 16;
/** A longer text is not kept to be compared with. */
const keptCharsMax = 16_384;

function figure(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError("not a JSON number");
  return String(value);
}

/** Members behind one another, each as `,"key":value`; those that a record has not are left out. */
export function membersOf(record: QueryRecord, ...keys: readonly (keyof QueryRecord)[]): string {
  let text = "";
  for (const key of keys) {
    const value = record[key];
    if (value !== undefined) text += `,"${key}":${canonicalJson(value)}`;
  }
  return text;
}

/**
 * How the records of one user's statement are written, without its values: all members that are the same in each of
 * them, joined up to the next that is not. In canonical order (RFC 8785 §3.2.3), with a comma in front.
 */
export class RecordForm implements Recognised<QueryRecord>, RecordFace {
  /** How many records behind the first were found to have it. */
  uses = 0;
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
  readonly status: QueryRecord["status"];
  readonly targetDialect: string | undefined;
  readonly translatedSql: string | undefined;
  readonly user: string;
  readonly worker: string | undefined;

  readonly #toBytes: string;
  readonly #toCreated: string;
  readonly #toExecution: string;
  readonly #toId: string;
  readonly #toRows: string;
  readonly #toStatement: string;
  readonly #toTags: string;
  readonly #end: string;
  /** Without a comma in front. */
  readonly #own: string;
  /** Up to the statement, without a comma in front; then what is behind the tags. */
  readonly #sharedStart: string;
  readonly #sharedEnd: string;

  /** The last record's statement, its tags, and what it shared: apart, because applications write values into statements. */
  #sql: string | undefined;
  #sqlHash: string | undefined;
  #statement = "";
  #tags: QueryRecord["tags"] = {};
  #tagsText = "{}";
  #sharedOf: string | undefined;
  #sharedTags = "";
  #shared = "";

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
    this.#toBytes = `{${joined(mode, engineId, ',"bytesReturned":').slice(1)}`;
    this.#toCreated = joined(client, membersOf(record, "cluster", "clusterGroup"), ',"createdAt":');
    this.#toExecution = joined(engine, stats, code, message, ',"executionMs":');
    this.#toId = joined(membersOf(record, "frontend"), actions, ',"proxyQueryId":');
    this.#toRows = joined(way, ',"rowsReturned":');
    this.#toStatement = joined(schema);
    this.#toTags = joined(membersOf(record, "status"), ',"tags":');
    this.#end = joined(target, membersOf(record, "user", "worker"), "}");
    this.#own = joined(engineId, ownStats, message).slice(1);
    this.#sharedStart = joined(mode, client, engine, sharedStats, actions, way, schema).slice(1);
    this.#sharedEnd = joined(target);
  }

  /** Whether nothing of it is another record's alone, nor too long to be kept. */
  get common(): boolean {
    return (
      this.#own === "" &&
      this.#toBytes.length + this.#toExecution.length + this.#toId.length < keptCharsMax &&
      this.#toRows.length + this.#end.length < keptCharsMax
    );
  }

  suits(record: QueryRecord): boolean {
    return this.#asked(record) && this.#went(record);
  }

  /** The statement's members, each as `,"key":value`. */
  statementOf(record: QueryRecord): string {
    if (this.#sql === record.sql && this.#sqlHash === record.sqlHash) return this.#statement;
    const statement = membersOf(record, "sql", "sqlHash");
    if (statement.length > keptCharsMax) return statement;
    this.#sql = record.sql;
    this.#sqlHash = record.sqlHash;
    this.#statement = statement;
    return statement;
  }

  tagsOf({ tags }: QueryRecord): string {
    if (sameTags(this.#tags, tags)) return this.#tagsText;
    const text = canonicalJson(tags);
    if (text.length > keptCharsMax) return text;
    this.#tags = tags;
    this.#tagsText = text;
    return text;
  }

  /** A client may give each of its queries a tag of its own. */
  ownOf(tags: string): string {
    if (tags === "{}") return this.#own;
    return `${this.#own}${this.#own === "" ? "" : ","}"tags":${tags}`;
  }

  sharedOf(statement: string, tags: string): string {
    if (this.#sharedOf === statement && this.#sharedTags === tags) return this.#shared;
    const none = tags === "{}" ? ',"tags":{}' : "";
    const shared = joined(this.#sharedStart, statement, none, this.#sharedEnd);
    if (shared.length > keptCharsMax) return shared;
    this.#sharedOf = statement;
    this.#sharedTags = tags;
    this.#shared = shared;
    return shared;
  }

  /**
   * Canonical JSON of a record of this form. Each member by its name: a walk over a list of names reads every one of
   * them as if it had never seen a record.
   */
  whole(record: RecordFigures, statement: string, tags: string): string {
    const { startedAt } = record;
    return (
      `${this.#toBytes}${figure(record.bytesReturned)}${this.#toCreated}${figure(record.createdAt)}` +
      `${this.#toExecution}${figure(record.executionMs)},"finishedAt":${figure(record.finishedAt)}` +
      `${this.#toId}${canonicalJson(record.proxyQueryId)},"queueMs":${figure(record.queueMs)}` +
      `${this.#toRows}${figure(record.rowsReturned)}${this.#toStatement}${statement}` +
      (startedAt === undefined ? "" : `,"startedAt":${figure(startedAt)}`) +
      `${this.#toTags}${tags}${this.#end}`
    );
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

/** The last forms. */
export class RecordForms {
  readonly #recent = new Recent<QueryRecord, RecordForm>(formsMax);

  /** The form of a record: one of the last where it suits, else its own. */
  of(record: QueryRecord): RecordForm {
    const known = this.#recent.find(record);
    if (known !== undefined) {
      known.uses += 1;
      return known;
    }
    const made = new RecordForm(record);
    if (made.common) this.#recent.keep(made);
    return made;
  }
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
