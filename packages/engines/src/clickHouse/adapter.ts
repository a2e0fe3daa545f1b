/** A ClickHouse cluster as a backend. Every statement is one request; nothing of a session stays in the server. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  Backend,
  PinnedLane,
  RunningStatements,
  TableListing,
} from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Asked } from "@gateway/core/query/asked.ts";
import { nextOf, waited, type Course } from "@gateway/core/query/course.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, LastEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { statementTag, tagPrefix } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { Http1Pool } from "../connect/http1/pool.ts";
import { tlsTrust } from "../connect/tls.ts";
import { describedColumn } from "./page/block.ts";
import type { ClickHouseConfig } from "./config.ts";
import { judge, type Judged } from "./sql/guard.ts";
import { account, callerOf, type Caller } from "./identity.ts";
import { AskedStatement } from "./client/asked.ts";
import { Impersonation } from "./client/impersonation.ts";
import { catalogName, databaseSql, tablesOf, tablesSql } from "./listing.ts";
import { placesAhead, withoutValues } from "./sql/parameters.ts";
import { quoteText } from "./sql/quote.ts";
import { runRelayed } from "./client/relay.ts";
import { failedBy, runStatement, send, type Running, type Sent, type Trace } from "./client/run.ts";
import { isUse, judgementOf, type Judgement, type Use } from "./client/submission.ts";
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
    const found = judgementOf(query, this.#config);
    if (!found.ok) return refused(found.error);
    if (isUse(found.value)) return this.#use(found.value, signal);
    return this.#run(this.#runningOf(found.value, whole, undefined), signal);
  }

  ask(query: Identified, signal: AbortSignal): Asked | undefined {
    const { relay } = query;
    const isPlain = relay !== undefined && relay.body === undefined;
    if (!isPlain || !query.takes.includes("clickHouseBody")) return undefined;
    if (signal.aborted || this.#closed !== undefined) return undefined;
    const found = judgementOf(query, this.#config);
    if (!found.ok || isUse(found.value)) return undefined;
    const [wire, { clock }, { submission }] = [this.#wire, this.#host, found.value];
    const sent = send({ wire, clock, submission }, signal);
    if ("code" in sent) return undefined;
    const running = this.#runningOf(found.value, true, sent);
    return new AskedStatement(running, sent, { course: this.#goOn, signal });
  }

  #runningOf(
    { submission, judged, shown }: Judgement,
    whole: boolean,
    sent: Sent | undefined,
  ): Running {
    const [wire, { clock }, described] = [this.#wire, this.#host, this.#described];
    return { wire, clock, submission, judged, shown, whole, described, sent };
  }

  readonly #described: Running["described"] = (submission, judged) =>
    this.#columnsOf(submission, judged);

  readonly #goOn = (running: Running, signal: AbortSignal): Course => this.#run(running, signal);

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

  *#run(running: Running, signal: AbortSignal): Course {
    const { submission, sent } = running;
    if (sent === undefined) {
      if (signal.aborted) return yield* refused(gatewayError("query.cancelled"));
      if (this.#closed !== undefined) return yield* refused(gatewayError("cluster.connectFailed"));
    }
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

  *#use({ database: name, caller }: Use, signal: AbortSignal): Course {
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
      encodedId: undefined,
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
