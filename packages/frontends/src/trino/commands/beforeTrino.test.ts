/** What becomes of statements about the session where every engine speaks Trino's own SQL. */
import { gatewayError } from "@gateway/core/error.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { err } from "@gateway/core/result.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { describe, expect, it } from "vitest";
import { opened } from "../rig/server.ts";
import { done, queryOf, sessionOf } from "../rig/trino.ts";
import { asksForEngine, handle, type Behind } from "./local.ts";

const trino: Behind = {
  catalogs: () => ["tpch"],
  describe: async () => err(gatewayError("query.unknownObject")),
  speaksTrino: true,
};
const prepared = (sql: string) =>
  sessionOf({ "x-trino-prepared-statement": `p=${encodeURIComponent(sql)}` });

describe("before a Trino", () => {
  it.each([
    "SHOW CATALOGS",
    "show tables from memory.default like 'a%'",
    "SHOW SESSION",
    "SHOW FUNCTIONS",
    "SHOW COLUMNS FROM t",
    "DESCRIBE t",
    "DESC t",
    "DESCRIBE INPUT p",
    "DESCRIBE OUTPUT p",
    "USE nowhere.x",
    "SET SESSION memory.x = 1 + 1",
    "RESET SESSION memory.x",
    "SET TIME ZONE LOCAL",
  ])("%s is the engine's, word for word", (sql) => {
    expect(handle(sql, prepared("SELECT ?"), trino)).toEqual({
      kind: "run",
      sql,
      parameters: [],
      verbatim: true,
      headers: [],
    });
  });

  it.each([
    ["PREPARE p FROM SELECT  ?", "X-Trino-Added-Prepare", "p=SELECT++%3F"],
    ["DEALLOCATE PREPARE gone", "X-Trino-Deallocated-Prepare", "gone"],
    ["SET PATH a.b", "X-Trino-Set-Path", "a.b"],
  ])("%s is judged by the engine, and the client keeps what it wrote", (sql, name, value) => {
    expect(handle(sql, sessionOf(), trino)).toEqual({
      kind: "run",
      sql,
      parameters: [],
      verbatim: true,
      headers: [[name, value]],
    });
  });

  it("what the engine refuses to prepare is not kept", async () => {
    const sql = "PREPARE p FROM SELEC 1";
    const refused = await opened({ answers: {}, dialect: "trino" });
    const answers = await refused.follow(sql);
    expect(refused.door.queries.map((query) => query.sql)).toEqual([sql]);
    expect(answers.at(-1)?.results.error).toBeDefined();
    const kept = answers.map(({ headers }) => headers.get("x-trino-added-prepare"));
    expect(kept.filter((one) => one !== null)).toEqual([]);
    const taken = await opened({ answers: { [sql]: [done] }, dialect: "trino" });
    const answer = (await taken.follow(sql)).at(-1);
    expect(answer?.headers.get("x-trino-added-prepare")).toBe("p=SELEC+1");
  });

  it("the gateway decides whose rights a statement has", async () => {
    expect(await refusalOf("SET SESSION AUTHORIZATION bob")).toBe("query.permission");
    expect(await refusalOf("SET ROLE admin")).toBe("query.permission");
    expect(await refusalOf("START TRANSACTION")).toBe("query.unsupported");
  });

  it("values of a prepared statement go on as they were written", () => {
    const sql = "EXECUTE p USING TIME '10:00:00 -08:00', MAP(ARRAY['a', ','], ARRAY[1, 2])";
    expect(handle(sql, prepared("SELECT ?, ?"), trino)).toMatchObject({
      sql: "SELECT $1, $2",
      parameters: [
        { expression: "TIME '10:00:00 -08:00'" },
        { expression: "MAP(ARRAY['a', ','], ARRAY[1, 2])" },
      ],
    });
  });

  it("a prepared statement about the session is the engine's too", () => {
    const handling = handle("EXECUTE p", prepared("SHOW TABLES"), trino);
    expect(handling).toMatchObject({ kind: "run", sql: "SHOW TABLES", parameters: [] });
  });

  it("Trino's own tables are asked of it, and of any other engine replaced", async () => {
    const sql = "SELECT * FROM system.jdbc.catalogs";
    const own = await opened({ answers: {}, dialect: "trino" });
    await own.follow(sql);
    expect(own.door.queries.map((query) => query.sql)).toEqual([sql]);
    const other = await opened({ answers: {}, dialect: "duckdb" });
    await other.follow(sql);
    expect(other.door.queries[0]?.sql).toContain("FROM (SELECT ");
  });

  it("a statement is routed once where every engine is a Trino, and asked for its way where some are", async () => {
    const routed = async (dialects: readonly Dialect[]) => {
      const server = await opened({ answers: { "SELECT $1": [done] }, dialect: "trino" });
      const { door } = server;
      const ways = await door.target(queryOf("SELECT 1"), new AbortController().signal);
      let asked = 0;
      Object.assign(door, {
        engines: () => dialects.map((dialect) => ({ dialect, catalogs: ["tpch"] })),
        target: async () => {
          asked += 1;
          return ways;
        },
      });
      await server.follow("EXECUTE IMMEDIATE 'SELECT ?' USING 1");
      expect(door.queries.map(({ sql }) => sql)).toEqual(["SELECT $1"]);
      return asked;
    };
    expect(await routed(["trino", "trino"])).toBe(0);
    expect(await routed(["trino", "duckdb"])).toBe(1);
  });

  it("a session in a zone that nobody knows can still mend it", async () => {
    const server = await opened({ answers: {}, dialect: "trino" });
    const lost = { "x-trino-session": "time_zone_id=Nowhere" };
    const answers = await server.follow("SET TIME ZONE 'UTC'", lost);
    const mended = answers.map(({ headers }) => headers.get("x-trino-set-session"));
    expect(mended).toContain("time_zone_id=UTC");
    const held = await server.follow("SHOW TABLES", lost);
    expect(held.at(-1)?.results.error?.errorName).toBe("NOT_SUPPORTED");
    expect(server.door.queries).toEqual([]);
  });
});

describe("asksForEngine", () => {
  const asked = (sql: string) => asksForEngine(sql, prepared("SELECT ?"));

  it("names the text by which the engine is found, for statements that differ by it", () => {
    for (const sql of [
      "show tables",
      "PREPARE p FROM SELECT 1",
      "USE a.b",
      "SET SESSION a = 1",
      "TABLE system.jdbc.types",
    ]) {
      expect(asked(sql)).toBe(sql);
    }
    expect(asked("EXECUTE p USING 1")).toBe("SELECT $1");
    expect(asked("EXECUTE IMMEDIATE 'SELECT ''a'''")).toBe("SELECT 'a'");
  });

  it("names none for all others, which wait for nothing", () => {
    for (const sql of ["SELECT 1", "COMMIT", "EXECUTE gone", "", "'SHOW'"]) {
      expect(asked(sql)).toBeUndefined();
    }
  });
});

/** The code of the failure that it is answered with here. */
async function refusalOf(sql: string): Promise<string | undefined> {
  const handling = handle(sql, sessionOf(), trino);
  if (handling.kind !== "answer") throw new Error(`not answered here: ${sql}`);
  let last: ResultEvent | undefined;
  for await (const event of handling.events(queryOf("q"), new AbortController().signal)) {
    last = event;
  }
  return last?.kind === "failed" ? last.error.code : undefined;
}
