import { catalogProviderSchema } from "@gateway/contract/config/catalogProvider.ts";
import type { QueryAuth } from "@gateway/contract/config/queryAuth.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { CatalogAnswer } from "@gateway/core/port/sql/catalog.ts";
import type { ResultStream } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { columnsSql } from "./metadata.ts";
import { openCatalog } from "./open.ts";

const unavailable = { kind: "unavailable" };

describe("engines as a catalog", () => {
  it("are asked about a table as the cluster's own account, with a time limit, and say columns, types and views", async () => {
    const a = new FakeEngine("a");
    const catalog = catalogOf([a]);
    expect(catalog.nameParts).toBe(2);
    expect(await catalog.ask("sales", "orders")).toEqual({
      kind: "known",
      isView: false,
      columns: ["id", "Email"],
      types: ["integer", "text"],
      untilMs: 750,
    });
    a.kind = "view";
    expect(await catalog.ask("sales", "recent")).toMatchObject({ isView: true });
    const [query] = a.asked;
    expect(query?.backendIdentity).toEqual({ mode: "serviceAccount" });
    expect(query?.maxExecutionMs).toBe(100);
    expect(query?.engineSql).toContain("'orders'");
  });

  it("ask once for a burst, behind a use in the last quarter of the age, and are waited for beyond it", async () => {
    const a = new FakeEngine("a");
    const catalog = catalogOf([a]);
    await Promise.all(Array.from({ length: 20 }, () => catalog.ask("sales", "orders")));
    expect(a.asked).toHaveLength(1);
    await catalog.host.advance(749);
    await catalog.ask("sales", "orders");
    expect(a.asked).toHaveLength(1);
    a.columns = ["id", "Email", "added"];
    await catalog.host.advance(1);
    // At once, and for a moment: what is decided by it is decided again with the new answer.
    expect(await catalog.ask("sales", "orders")).toMatchObject({
      columns: ["id", "Email"],
      untilMs: 1_000,
    });
    await catalog.host.settle();
    expect(a.asked).toHaveLength(2);
    expect(await catalog.ask("sales", "orders")).toMatchObject({
      columns: ["id", "Email", "added"],
      untilMs: 1_500,
    });
    await catalog.host.advance(5_000);
    a.columns = ["id"];
    expect(await catalog.ask("sales", "orders")).toMatchObject({ columns: ["id"] });
  });

  it("are believed a bounded while longer when they can not be asked, and then nothing is known", async () => {
    const a = new FakeEngine("a");
    const catalog = catalogOf([a], { staleMs: 5_000 });
    await catalog.ask("sales", "orders");
    a.mood = "failing";
    await catalog.host.advance(5_500);
    expect(await catalog.ask("sales", "orders")).toMatchObject({ kind: "known", untilMs: 6_000 });
    expect(await catalog.ask("sales", "other")).toEqual(unavailable);
    const { length } = a.asked;
    await catalog.host.advance(500);
    // It rests, and what was known is too old.
    expect(await catalog.ask("sales", "orders")).toEqual(unavailable);
    expect(a.asked).toHaveLength(length);
    a.mood = "well";
    await catalog.host.advance(500);
    expect(await catalog.ask("sales", "orders")).toMatchObject({ kind: "known" });
    expect(JSON.stringify(catalog.host.log.lines)).toContain("catalog.unavailable");
  });

  it("know nothing within the time limit when one is silent, and no more than four are asked at once", async () => {
    const a = new FakeEngine("a");
    a.mood = "silent";
    const catalog = catalogOf([a]);
    const names = Array.from({ length: 9 }, (_, index) => `t${index}`);
    const all = Promise.all(names.map((name) => catalog.ask("sales", name)));
    await catalog.host.advance(100);
    expect(new Set((await all).map(({ kind }) => kind))).toEqual(new Set(["unavailable"]));
    expect(a.runningMost).toBe(4);
    expect(a.ended).toBe(a.asked.length);
  });

  it("refuse what the clusters of a group do not agree on, and ask those of the group alone", async () => {
    const [a, b, c] = [new FakeEngine("a"), new FakeEngine("b"), new FakeEngine("c")];
    const catalog = catalogOf([a, b]);
    b.columns = ["ID", "email"];
    expect(await catalog.ask("sales", "orders")).toMatchObject({ kind: "known" });
    b.columns = ["id", "email", "more"];
    expect(await catalog.ask("sales", "wider")).toEqual(unavailable);
    b.columns = [];
    expect(await catalog.ask("sales", "missing")).toEqual(unavailable);
    [a.columns, b.columns] = [[], a.columns];
    expect(await catalog.ask("sales", "recent")).toEqual(unavailable);
    b.columns = [];
    expect(await catalog.ask("sales", "other")).toMatchObject({ kind: "unknown" });
    a.columns = b.columns = ["id"];
    b.kind = "view";
    expect(await catalog.ask("sales", "viewed")).toEqual(unavailable);
    b.mood = "failing";
    expect(await catalog.ask("sales", "down")).toEqual(unavailable);
    expect(c.asked).toHaveLength(0);
  });

  it("say that there is no table, for five seconds at most, and take two that differ in case for none", async () => {
    const a = new FakeEngine("a");
    a.columns = [];
    const catalog = catalogOf([a], { cacheTtlMs: 60_000 });
    expect(await catalog.ask("sales", "orders")).toEqual({ kind: "unknown", untilMs: 5_000 });
    await catalog.host.advance(4_999);
    expect(await catalog.ask("sales", "orders")).toEqual({ kind: "unknown", untilMs: 5_000 });
    await catalog.host.settle();
    expect(a.asked).toHaveLength(1);
    a.columns = ["id"];
    a.alike = true;
    await catalog.host.advance(1);
    expect(await catalog.ask("sales", "orders")).toMatchObject({ kind: "unknown" });
  });

  it("are asked about a table that is not there when that is old, and not when a table would be", async () => {
    const a = new FakeEngine("a");
    a.columns = [];
    const catalog = catalogOf([a], { cacheTtlMs: 6_000 });
    await catalog.ask("sales", "orders");
    await catalog.host.advance(4_600);
    expect(await catalog.ask("sales", "orders")).toEqual({ kind: "unknown", untilMs: 5_000 });
    await catalog.host.settle();
    expect(a.asked).toHaveLength(1);
  });

  it("are not asked where nobody knows how", async () => {
    const a = new FakeEngine("a", "generic");
    const catalog = catalogOf([a]);
    expect(catalog.nameParts).toBe(2);
    expect(await catalog.ask("sales", "orders")).toEqual(unavailable);
    expect(a.asked).toEqual([]);
  });

  it("are not believed when they speak of another table or of too many columns", async () => {
    const a = new FakeEngine("a");
    a.name = "others";
    const catalog = catalogOf([a]);
    expect(await catalog.ask("sales", "orders")).toEqual(unavailable);
    a.name = undefined;
    a.columns = Array.from({ length: 5_000 }, (_, index) => `c${index}`);
    await catalog.host.advance(1_000);
    expect(await catalog.ask("sales", "orders")).toMatchObject({ columns: a.columns });
    a.columns = [...a.columns, "more"];
    expect(await catalog.ask("sales", "more")).toEqual(unavailable);
  });

  it.each<[QueryAuth["type"], object | undefined, readonly string[]]>([
    ["impersonate", { user: "meta" }, ["impersonate meta"]],
    ["impersonate", undefined, []],
    ["passthrough", { user: "meta", password: "p" }, ["passthrough meta"]],
    ["passthrough", { user: "meta" }, []],
    ["tokenExchange", { user: "meta", password: "p" }, []],
  ])("are asked under %s with %j as %j, and as nobody else", async (type, account, asked) => {
    const a = new FakeEngine("a", "trino");
    const catalog = catalogOf([a], { account }, { type } as QueryAuth);
    const answer = await catalog.ask("lake", "sales", "orders");
    expect(catalog.nameParts).toBe(3);
    expect(answer.kind).toBe(asked.length === 0 ? "unavailable" : "known");
    const identities = a.asked.map(({ backendIdentity: one }) =>
      one.mode === "serviceAccount" ? one.mode : `${one.mode} ${one.principal}`,
    );
    expect(identities).toEqual(asked);
  });
});

describe("the statement that asks for columns", () => {
  const dialects: readonly Dialect[] = ["postgres", "mysql", "trino", "duckdb", "clickhouse"];

  it.each(dialects)("is none for a name that could end its string (%s)", (dialect) => {
    for (const name of ["a'b", "a\\b", "a\nb", 'a"b', "a\u0000", "a\u2019b", ""]) {
      expect(columnsSql(dialect, ["c", "s", name])).toBeUndefined();
      expect(columnsSql(dialect, [name, "s", "t"].slice(-3))).toBeUndefined();
    }
  });

  it.each(dialects)("asks for one column more than a table may have (%s)", (dialect) => {
    const path = dialect === "mysql" || dialect === "clickhouse" ? ["s", "t"] : ["c", "s", "t"];
    expect(columnsSql(dialect, path)).toMatch(/ LIMIT 5001$/);
  });

  it("asks the current database where the name says no other", () => {
    expect(columnsSql("duckdb", ["s", "t"])).toContain("= lower(current_database())");
    expect(columnsSql("duckdb", ["lake", "s", "t"])).toContain("= 'lake'");
    expect(columnsSql("postgres", ["s", "t"])).not.toContain("current_database");
    expect(columnsSql("postgres", ["lake", "s", "t"])).toContain("= 'lake'");
  });

  it("is none where the engine has no table of that name", () => {
    expect(columnsSql("clickhouse", ["c", "s", "t"])).toBeUndefined();
    expect(columnsSql("mysql", ["other", "s", "t"])).toBeUndefined();
    expect(columnsSql("trino", ["s", "t"])).toBeUndefined();
    expect(columnsSql("postgres", ["t"])).toBeUndefined();
    expect(columnsSql("postgres", [])).toBeUndefined();
    expect(columnsSql("postgres", ["a", "b", "c", "d"])).toBeUndefined();
    for (const catalog of ["def", "default_catalog"]) {
      expect(columnsSql("mysql", [catalog, "s", "t"])).toBeDefined();
    }
    expect(columnsSql("generic", ["s", "t"])).toBeUndefined();
  });
});

const text = { kind: "text" } as const;
const shape = ["schema", "name", "kind", "column", "type"].map((name) => columnOf(name, text));

/** Answers each question about `schema.name` with its columns. */
class FakeEngine {
  readonly engine = "fake";
  readonly asked: Identified[] = [];
  columns: readonly string[] = ["id", "Email"];
  kind = "table";
  /** Another table than the one that was asked for. */
  name: string | undefined;
  /** A second one whose name differs in case. */
  alike = false;
  mood: "well" | "silent" | "failing" = "well";
  runningMost = 0;
  ended = 0;
  #running = 0;

  readonly cluster: string;
  readonly dialect: Dialect;

  constructor(cluster: string, dialect: Dialect = "postgres") {
    this.cluster = cluster;
    this.dialect = dialect;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    this.asked.push(query);
    this.#running += 1;
    this.runningMost = Math.max(this.runningMost, this.#running);
    try {
      if (this.mood === "silent") await aborted(signal);
      if (this.mood !== "well") {
        yield { kind: "failed", error: gatewayError("cluster.connectFailed") };
        return;
      }
      const [schema = "", own = ""] = /'sales'/.test(query.engineSql)
        ? [
            "sales",
            /'(t\d|orders|recent|wider|missing|viewed|down|other)'/.exec(query.engineSql)?.[1] ??
              "",
          ]
        : [];
      const name = this.name ?? own;
      const names = this.alike ? [name, name.toUpperCase()] : [name];
      const rows = names.flatMap((each) =>
        this.columns.map((column, index) => [
          schema,
          each,
          this.kind,
          column,
          index === 0 ? "integer" : "text",
        ]),
      );
      yield { kind: "columns", columns: shape };
      yield { kind: "batch", batch: batchOf(shape, rows) };
      yield {
        kind: "done",
        stats: { queueMs: 0, executionMs: 0, rows: rows.length, bytes: 0 },
      };
    } finally {
      this.#running -= 1;
      this.ended += 1;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function catalogOf(engines: readonly FakeEngine[], more: object = {}, queryAuth?: QueryAuth) {
  const host = virtualHost(1);
  const engine = { timeoutMs: 100, cacheTtlMs: 1_000, ...more };
  const config = catalogProviderSchema.parse({ provider: "engine", engine });
  const all = engines.map((backend) => ({ backend, queryAuth }));
  const catalog = openCatalog(config, host, { all, of: (group) => (group === "g" ? all : []) });
  const { signal } = new AbortController();
  return {
    host,
    nameParts: catalog.nameParts,
    ask: async (...table: string[]): Promise<CatalogAnswer> =>
      await catalog.table(table, signal, "g"),
  };
}
