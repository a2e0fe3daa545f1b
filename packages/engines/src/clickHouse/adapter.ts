/** A ClickHouse cluster as a backend. Every statement is one request; nothing of a session stays in the server. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  PinnedLane,
  RunningStatements,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { nextOf, waited, type Course } from "@gateway/core/query/course.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, LastEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { statementTag, tagPrefix } from "@gateway/core/query/tag.ts";
import { shownTags } from "@gateway/core/query/tagText.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readSessionStatement } from "@gateway/core/sql/session/session.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { Http1Pool } from "../connect/http1/pool.ts";
import { tlsTrust } from "../connect/tls.ts";
import { describedColumn } from "./page/block.ts";
import type { ClickHouseConfig } from "./config.ts";
import { judge, type Judged } from "./sql/guard.ts";
import { account, callerOf, type Caller } from "./identity.ts";
import { Impersonation } from "./client/impersonation.ts";
import { catalogName, databaseSql, tablesOf, tablesSql } from "./listing.ts";
import { placeParameters, placesAhead, withoutValues } from "./sql/parameters.ts";
import { quoteText } from "./sql/quote.ts";
import { relayedAsk } from "./client/relayedAsk.ts";
import { runRelayed } from "./client/relay.ts";
import { failedBy, runStatement, type Running, type Trace } from "./client/run.ts";
import {
  loginHeaders,
  relaySettingsQuery,
  settingsQuery,
  type Submission,
  type Wire,
} from "./client/wire.ts";

/** How long the server may take to confirm that a statement is gone, and how often it is asked. */
const endingMs = 10_000;
/** A statement shows in the list as soon as it was taken up. */
const delayMs = 1_000;
const endingTries = 5;
const controlConnectionsMax = 4;

/** Opens the cluster's pools; an unreachable server opens and is unhealthy. */
export async function open(
  cluster: string,
  config: ClickHouseConfig,
  host: Host,
): Promise<Result<Backend, GatewayError>> {
  const trust = await tlsTrust(config.tls);
  if (!trust.ok) return trust;
  const options = {
    origin: new URL(config.endpoint).origin,
    tls: trust.value,
    connectTimeoutMs: config.connectTimeoutSecs * 1_000,
  };
  const wire: Wire = {
    pool: new Http1Pool({ ...options, connectionsMax: config.connectionsMax }, host),
    control: new Http1Pool({ ...options, connectionsMax: controlConnectionsMax }, host),
    login: loginHeaders(config.auth),
    settings: settingsQuery(Object.entries(config.settings)),
    relaySettings: relaySettingsQuery(Object.entries(config.settings)),
  };
  return ok(new ClickHouseBackend(cluster, config, host, wire));
}

class ClickHouseBackend implements Backend {
  readonly engine = "clickHouse";
  readonly dialect = "clickhouse";
  readonly readAhead = placesAhead;
  readonly catalogs: readonly string[] = [catalogName];
  readonly runsIn = "engine";
  readonly limitsExecution: boolean = false;
  readonly forwards = [];
  readonly cluster: string;
  readonly #config: ClickHouseConfig;
  readonly #host: Host;
  readonly #wire: Wire;
  readonly #ownTag: string;
  readonly #impersonation: Impersonation | undefined;
  #ownCount = 0;
  #nodeSeen: string | undefined;
  #severalNodes = false;
  #closed: Promise<void> | undefined;

  constructor(cluster: string, config: ClickHouseConfig, host: Host, wire: Wire) {
    this.cluster = cluster;
    this.#config = config;
    this.#host = host;
    this.#wire = wire;
    const ask = (sql: string, signal: AbortSignal) => this.#ask(sql, signal);
    const impersonates = config.queryAuth?.type === "impersonate";
    this.#impersonation = impersonates ? new Impersonation(cluster, host, ask) : undefined;
    this.#ownTag = `${tagPrefix}own/${Buffer.from(host.randomBytes(8)).toString("hex")}`;
  }

  execute(query: Identified, signal: AbortSignal): ResultStream {
    return streamOf(this.course(query, signal));
  }

  course(query: Identified, signal: AbortSignal, whole: boolean = false): Course {
    const caller = callerOf(query, this.#config);
    if (!caller.ok) return refused(caller.error);
    const used = readSessionStatement(query.engineSql, "clickhouse");
    if (used?.kind === "use" && used.object === undefined) {
      return this.#use(used.path.at(-1)?.text ?? "", caller.value, signal);
    }
    const judged = judge(query.engineSql, caller.value);
    if (!judged.ok) return refused(judged.error);
    const placed = placeParameters(query.engineSql, query.parameters);
    if (!placed.ok) return refused(placed.error);
    const relay = relayedAsk(query, this.#config, caller.value);
    if (!relay.ok) return refused(relay.error);
    const submission: Submission = {
      relay: relay.value,
      sql: placed.value.sql,
      caller: caller.value,
      queryId: statementTag(query),
      database: query.session.schema ?? this.#config.database,
      // What a write changed is known at its end only.
      fields: [
        ...placed.value.values,
        ...(judged.value.reads ? [] : [["wait_end_of_query", "1"] as const]),
        ...commentOf(query, caller.value, this.#config),
      ],
    };
    const shown = query.parameters.length === 0 ? query.engineSql : undefined;
    const described = (): Promise<readonly Column[]> => this.#columnsOf(submission, judged.value);
    return this.#run({ submission, judged: judged.value, shown, whole, described }, signal);
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const caller = callerOf(query, this.#config);
    if (!caller.ok) return caller;
    const judged = judge(query.engineSql, caller.value);
    if (!judged.ok) return judged;
    const asked = { caller: caller.value, signal };
    const first = await this.#describedWith(query, judged.value, { ...asked, untyped: "text" });
    if (first.ok || signal.aborted) return first;
    const second = await this.#describedWith(query, judged.value, { ...asked, untyped: "null" });
    return second.ok ? second : first;
  }

  async #describedWith(
    query: Identified,
    { describable }: Judged,
    {
      caller,
      untyped,
      signal,
    }: {
      readonly caller: Caller;
      readonly untyped: "text" | "null";
      readonly signal: AbortSignal;
    },
  ): Promise<Result<Description, GatewayError>> {
    const plain = withoutValues(query.engineSql, query.parameters, untyped);
    if (!plain.ok) return plain;
    const { sql, types } = plain.value;
    if (!describable) return ok({ parameters: types, columns: [] });
    const database = query.session.schema ?? this.#config.database;
    const submission = { sql, caller, queryId: statementTag(query), database, fields: [] };
    const columns = await this.#describe(submission, signal);
    return columns.ok ? ok({ parameters: types, columns: columns.value }) : columns;
  }

  async begin(): Promise<Result<PinnedLane, GatewayError>> {
    const message = "ClickHouse has no transactions over its HTTP interface";
    return err(gatewayError("query.unsupported", { message, sqlState: "0A000" }));
  }

  async probe(signal: AbortSignal): Promise<"healthy" | "unhealthy"> {
    if (this.#closed !== undefined) return "unhealthy";
    const answer = await this.#ask(this.#config.healthCheckQuery ?? "SELECT 1", signal);
    if (!answer.ok) return "unhealthy";
    const works = (await this.#impersonation?.works(signal)) ?? true;
    return works ? "healthy" : "unhealthy";
  }

  async running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    const own = this.#nextOwn();
    const sql = `SELECT hostName(), query_id FROM system.processes WHERE startsWith(query_id, ${quoteText(tagPrefix)})`;
    const answer = await this.#ask(sql, signal, own);
    if (!answer.ok) return answer;
    const tags = answer.value.map(([, id]) => String(id));
    const [node] = answer.value[0] ?? [];
    // Behind one address several servers may answer, each with its own list.
    if (typeof node === "string") {
      if (this.#nodeSeen !== undefined && this.#nodeSeen !== node) this.#severalNodes = true;
      this.#nodeSeen = node;
    }
    // Whose statements an account is shown is a rule of the server, and users' were not looked for.
    const shared = this.#impersonation === undefined;
    const complete = shared && tags.includes(own) && !this.#severalNodes;
    return ok({
      tags: tags.filter((tag) => !tag.startsWith(`${tagPrefix}own/`)),
      complete,
      delayMs,
    });
  }

  async end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    const killed = await this.#ask(`KILL QUERY WHERE query_id = ${quoteText(tag)} ASYNC`, signal);
    return killed.ok ? ok(undefined) : killed;
  }

  async listTables(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    const caller = callerOf(query, this.#config);
    if (!caller.ok) return caller;
    const answer = await this.#ask(tablesSql, signal, this.#nextOwn(), { caller: caller.value });
    return answer.ok ? ok(tablesOf(answer.value)) : answer;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= Promise.all([this.#wire.pool.close(), this.#wire.control.close()]).then(
      nothing,
    );
    return this.#closed;
  }

  *#run(
    statement: Pick<Running, "submission" | "judged" | "shown" | "whole" | "described">,
    signal: AbortSignal,
  ): Course {
    if (signal.aborted) return yield* refused(gatewayError("query.cancelled"));
    if (this.#closed !== undefined) return yield* refused(gatewayError("cluster.connectFailed"));
    const { submission, judged, shown, whole, described } = statement;
    const [wire, { clock }] = [this.#wire, this.#host];
    const running: Running = { wire, clock, submission, judged, shown, whole, described };
    const trace: Trace = { open: false, response: undefined };
    let last: LastEvent | undefined;
    try {
      const runs = submission.relay?.raw === true ? runRelayed : runStatement;
      last = yield* runs(running, trace, signal);
    } finally {
      // Where the reader left, the slot is free only when the server runs nothing of it any more.
      if (last === undefined || trace.open) {
        yield* waited(this.#end(submission.queryId, trace));
      }
      trace.response?.body.drop();
    }
    const isCancelled = last.kind === "failed" && signal.aborted;
    yield isCancelled ? failedBy(gatewayError("query.cancelled")) : last;
  }

  /** Ends a statement in the server and waits until its list shows it no more, for a bounded time. */
  async #end(queryId: string, { response }: Trace): Promise<void> {
    response?.body.drop();
    if (this.#closed !== undefined) return;
    const limit = new AbortController();
    using _timer = this.#host.clock.timer(endingMs, () => limit.abort());
    const where = `query_id = ${quoteText(queryId)}`;
    for (
      let absent = 0, tries = 0;
      absent < 2 && tries < endingTries && !limit.signal.aborted;
      tries += 1
    ) {
      const killed = await this.#ask(`KILL QUERY WHERE ${where} SYNC`, limit.signal);
      // Absent once may mean not yet begun: the request may still have been on its way.
      absent = killed.ok && killed.value.length === 0 ? absent + 1 : 0;
    }
  }

  async #columnsOf(submission: Submission, { describable }: Judged): Promise<readonly Column[]> {
    if (!describable) return [];
    const columns = await this.#describe(submission, new AbortController().signal);
    return columns.ok ? columns.value : [];
  }

  async #describe(
    submission: Submission,
    signal: AbortSignal,
  ): Promise<Result<readonly Column[], GatewayError>> {
    const sql = `DESCRIBE TABLE (${submission.sql}\n)`;
    const answer = await this.#ask(sql, signal, this.#nextOwn(), {
      ...submission,
      shown: submission.sql,
    });
    if (!answer.ok) return answer;
    const columns: Column[] = [];
    for (const [name, type] of answer.value) {
      const column = describedColumn(String(name), String(type));
      if (column === undefined) {
        const message = `a column of type ${String(type).slice(0, 200)} can not be read; cast it to String`;
        return err(gatewayError("query.unsupported", { message }));
      }
      columns.push(column);
    }
    return ok(columns);
  }

  *#use(name: string, caller: Caller, signal: AbortSignal): Course {
    const startedMs = this.#host.clock.nowMs();
    const sql = databaseSql(name);
    const answer = yield* waited(this.#ask(sql, signal, this.#nextOwn(), { caller }));
    if (!answer.ok) return yield* refused(answer.error);
    if (answer.value.length === 0) {
      const message = `Database ${name} does not exist`;
      return yield* refused(gatewayError("query.unknownObject", { message, sqlState: "3D000" }));
    }
    yield { kind: "session", change: { kind: "catalog", catalog: catalogName, schema: name } };
    const executionMs = this.#host.clock.nowMs() - startedMs;
    const stats = { queueMs: 0, executionMs, rows: 0, bytes: 0 };
    yield { kind: "done", stats, updateType: "USE" };
  }

  #nextOwn(): string {
    this.#ownCount += 1;
    return `${this.#ownTag}/${this.#ownCount}`;
  }

  /** Every row of a small answer as values, over the control connections; as the service account, unless `more` names a caller. */
  async #ask(
    sql: string,
    signal: AbortSignal,
    queryId = this.#nextOwn(),
    more: Partial<Submission> & { readonly shown?: string } = {},
  ): Promise<Result<readonly (readonly unknown[])[], GatewayError>> {
    if (this.#closed !== undefined) return err(gatewayError("cluster.connectFailed"));
    const wire = { ...this.#wire, pool: this.#wire.control };
    const { database } = this.#config;
    const submission = {
      caller: account,
      database,
      fields: [],
      ...more,
      relay: undefined,
      sql,
      queryId,
    };
    const judged: Judged = { reads: true, describable: false, tag: "" };
    const rows: (readonly unknown[])[] = [];
    const statement = { wire, clock: this.#host.clock, submission, judged, shown: more.shown };
    const running: Running = { ...statement, whole: false, described: async () => [] };
    const trace: Trace = { open: false, response: undefined };
    try {
      const events = runStatement(running, trace, signal);
      let step = await nextOf(events);
      for (; step.done !== true; step = await nextOf(events)) {
        if (step.value.kind !== "batch") continue;
        const batch = columnarOf(step.value.batch);
        for (let row = 0; row < batch.rows; row += 1) {
          rows.push(batch.columns.map((column) => valueAt(column, row)));
        }
      }
      return step.value.kind === "failed" ? err(step.value.error) : ok(rows);
    } finally {
      trace.response?.body.drop();
    }
  }
}

/** What was refused before anything was sent. */
function* refused(error: GatewayError): Course {
  yield failedBy(error);
}

function nothing(): void {}

const commentSetting = "log_comment";

/** The client's tags for the server's log, unless somebody else says what stands there. Beside the text of an impersonated user no setting goes out. */
function commentOf(
  { session, relay }: Identified,
  caller: Caller,
  { settings }: ClickHouseConfig,
): readonly (readonly [string, string])[] {
  const isSaid = relay?.fields.some(([name]) => name === commentSetting) ?? false;
  if (isSaid || caller.kind === "user" || Object.hasOwn(settings, commentSetting)) return [];
  const shown = shownTags(session.tags);
  return shown === "" ? [] : [[commentSetting, shown]];
}
