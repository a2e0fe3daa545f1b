/**
 * Queries that users of the admin API run by its web console.
 *
 * They take the line of every query: routers, allow lists, guards, capacity, records. The name is the user's own,
 * proved by the admin API; groups, roles and credentials it has none, so a cluster that wants a client's credential
 * refuses, and none is reached as anybody stronger than for a client of that name.
 */
import type { RunEvent, RunTables } from "@gateway/contract/studioApi.ts";
import type { ConsoleQueries, ConsoleQuestion } from "@gateway/control/deps.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { typeName } from "@gateway/core/type/name.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { OpenBatch, RowsPage, toldColumns } from "@gateway/frontends/mcp/encode.ts";
import { toldError } from "@gateway/frontends/mcp/errors.ts";
import { explained, readFor, type Read } from "@gateway/frontends/mcp/read/statement.ts";
import type { GatewayConfig } from "../config/schema.ts";

/** As records and routers name it. */
export const consoleFrontend = "console";

/** Rows of one event: what a page draws at a time. */
const eventRows = 200;
const eventBytes = 65_536;
/** Tables that an editor is told of. */
const tablesMax = 2_000;
const explainPrefix = "EXPLAIN ".length;

type ConsoleConfig = GatewayConfig["adminApi"]["queryConsole"];

/** Whether this process runs queries of the admin API's users. */
export function allowsConsole({ role, adminApi }: GatewayConfig): boolean {
  return adminApi.queryConsole.enabled ?? role === "standalone";
}

export function consoleQueries(
  door: Door,
  { writes, maxRows, maxBytes, maxSecs }: ConsoleConfig,
): ConsoleQueries {
  const limits = { writes, maxRows, maxBytes, maxSecs };
  return {
    ...limits,
    run: (question, signal) => run(question, { door, limits, signal }),
    tables: async (place, signal) => {
      const query = door.query(readStatement("select 1", "generic"), [], sessionOf(place));
      const scope = await door.tables(query, signal);
      if (!scope.ok) return scope;
      const listed = await scope.value.list(signal);
      return listed.ok ? ok(tablesOf(listed.value)) : listed;
    },
  };
}

interface Running {
  readonly door: Door;
  readonly limits: Pick<ConsoleQueries, "writes" | "maxRows" | "maxBytes">;
  readonly signal: AbortSignal;
}

async function* run(
  question: ConsoleQuestion,
  { door, limits, signal }: Running,
): AsyncGenerator<RunEvent, void, void> {
  const read = await readOf(question, { door, limits, signal });
  if (!read.ok) {
    yield failed(read.error, question.explain);
    return;
  }
  const query = door.query(read.value.statement, [], read.value.session);
  yield { kind: "started", id: query.id, user: question.user };
  const result = new ToldResult(question, limits);
  // Ending this generator ends that one, and with it the query.
  for await (const event of door.run(query, signal)) {
    yield* result.told(event);
    if (!result.isFull) continue;
    yield result.cutShort();
    return;
  }
}

/** The statement in the words of its engines, or why it is not run. */
async function readOf(
  { sql, explain, ...who }: ConsoleQuestion,
  { door, limits, signal }: Running,
): Promise<Result<Read, GatewayError>> {
  const read = await readFor(sql, sessionOf(who), { door, admit, signal });
  if (!read.ok) return read;
  if (explain) return explained(read.value, admit);
  return read.value.statement.writes && !limits.writes ? err(onlyReads) : read;
}

/** Texts of the console are short enough to be read at once. */
const admit = (): undefined => undefined;

const onlyReads = gatewayError("query.unsupported", {
  message:
    "The console runs statements that only read; gateway.adminApi.queryConsole.writes allows others.",
});

function sessionOf({
  user,
  address,
  group,
  catalog,
  schema,
}: Pick<ConsoleQuestion, "user" | "address" | "group" | "catalog" | "schema">): Session {
  return {
    frontend: consoleFrontend,
    identity: { user, groups: [], roles: [], method: "admin" },
    credential: { kind: "none" },
    clientAddress: address,
    dialect: "generic",
    catalog,
    schema,
    settings: new Map(),
    tags: new Map(),
    headers: new Map(),
    chosenGroup: group,
    pin: undefined,
  };
}

/** What of a query's events the console is told, and when it has enough. */
class ToldResult {
  readonly #explains: boolean;
  readonly #maxRows: number;
  readonly #maxBytes: number;
  readonly #cut = new Set<"rows" | "bytes" | "values">();
  #rows = 0;
  #bytes = 0;
  #queueMs = 0;
  #executionMs = 0;

  constructor({ explain, maxRows }: ConsoleQuestion, limits: Running["limits"]) {
    this.#explains = explain;
    this.#maxRows = Math.min(maxRows, limits.maxRows);
    this.#maxBytes = limits.maxBytes;
  }

  /** Rows were left out: the query need not go on. */
  get isFull(): boolean {
    return this.#cut.has("rows") || this.#cut.has("bytes");
  }

  *told(event: ResultEvent): Generator<RunEvent, void, void> {
    switch (event.kind) {
      case "queued": {
        const { position, estimateMs } = event;
        yield { kind: "queued", position, estimateMs };
        return;
      }
      case "progress": {
        const { queueMs, executionMs, work } = event.stats;
        this.#queueMs = queueMs;
        this.#executionMs = executionMs;
        const told = { queueMs, executionMs, rows: this.#rows, percent: work?.percent };
        yield { kind: "progress", state: event.state, ...told };
        return;
      }
      case "notice":
        yield { kind: "notice", code: event.code, text: event.text };
        return;
      case "columns":
        yield { kind: "columns", columns: [...toldColumns(event.columns)] };
        return;
      case "batch":
        yield* this.#taken(event.batch);
        return;
      case "done": {
        const { stats, updateType, updateCount } = event;
        yield { ...this.#done(stats), updateType, updateCount };
        return;
      }
      case "failed":
        yield failed(event.error, this.#explains);
        return;
      // Each query is a session of its own: nothing of one is left for the next.
      case "session":
        return;
    }
  }

  cutShort(): RunEvent {
    return this.#done({ queueMs: this.#queueMs, executionMs: this.#executionMs });
  }

  *#taken(batch: Batch): Generator<RunEvent, void, void> {
    const open = new OpenBatch(batch);
    while (open.hasMore) {
      const left = this.#maxRows - this.#rows;
      if (left <= 0) this.#cut.add("rows");
      if (this.#bytes >= this.#maxBytes) this.#cut.add("bytes");
      if (this.isFull) return;
      const page = new RowsPage({ rows: Math.min(eventRows, left), bytes: eventBytes });
      open.moveTo(page);
      if (page.hasCutValues) this.#cut.add("values");
      this.#rows += page.rows.length;
      this.#bytes += page.bytes;
      yield { kind: "rows", rows: page.rows.map((row) => [...row]) };
    }
  }

  #done({ queueMs, executionMs }: { readonly queueMs: number; readonly executionMs: number }) {
    const cut = [...this.#cut];
    return { kind: "done" as const, rows: this.#rows, queueMs, executionMs, cut };
  }
}

/** A place in the text counts from the user's own first character. */
function failed(error: GatewayError, explains: boolean): RunEvent {
  const { retryAfterMs: _retryAfterMs, ...told } = toldError(error, true);
  const { position } = told;
  if (!explains || position === undefined) return { kind: "failed", error: told };
  return { kind: "failed", error: { ...told, position: Math.max(1, position - explainPrefix) } };
}

function tablesOf(
  listed: readonly {
    readonly catalog: string;
    readonly schema: string;
    readonly name: string;
    readonly kind: "table" | "view";
    readonly columns: Parameters<typeof toldColumns>[0];
  }[],
): RunTables {
  const tables = listed.slice(0, tablesMax).map(({ catalog, schema, name, kind, columns }) => ({
    catalog,
    schema,
    name,
    kind,
    columns: columns.map((column) => ({ name: column.name, type: typeName(column.type) })),
  }));
  return { truncated: listed.length > tablesMax, tables };
}
