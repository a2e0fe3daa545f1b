/** The thread with the parser of SQL, as a gateway starts it. */
import { afterAll, describe, expect, it } from "vitest";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { bundle } from "./gateway.ts";
import { SqlThreads } from "@gateway/sql/thread/sqlThreads.ts";

const sql = new SqlThreads(nodeHost(bundle, "silent"));

afterAll(() => sql[Symbol.asyncDispose]());

describe("the thread with the parser", () => {
  it.each<Dialect>(["duckdb", "postgres", "mysql", "trino", "clickhouse", "generic"])(
    "reads what clients of %s write, and says of other texts that it does not",
    async (dialect) => {
      const kinds = ["select", "insert"];
      const text = "SELECT a FROM s.t WHERE b IN (SELECT 1); INSERT INTO t SELECT 1";
      expect(await parse(text, dialect)).toEqual({ ok: true, value: { parsed: true, kinds } });
      const broken = "SELECT 1 WHERE )";
      expect(await parse(broken, dialect)).toEqual({ ok: true, value: { parsed: false } });
    },
  );

  it("outlives texts that are nested thousands of times", async () => {
    for (const text of ["SELECT " + "(".repeat(4_000), "SELECT 1 " + "+(1".repeat(2_000)]) {
      const read = await parse(text, "postgres");
      expect(read.ok ? read.value.parsed : false).toBe(false);
    }
    expect(await parse("SELECT 1", "postgres")).toMatchObject({ ok: true });
  });
});

function parse(text: string, dialect: Dialect) {
  const { signal } = new AbortController();
  const input = { sql: text, dialect };
  return sql.ask({ task: "parse", input, length: text.length, user: "ann", signal });
}
