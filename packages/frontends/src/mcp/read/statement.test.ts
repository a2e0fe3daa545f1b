import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { describe, expect, it } from "vitest";
import { scriptedDoor } from "../../rig/scriptedDoor.ts";
import { neverAborted } from "@gateway/core/tool/canceller.ts";
import { explained, readFor, type Reading } from "./statement.ts";

const engine = (dialect: Dialect) => ({ dialect, catalogs: [] });

/** A door to engines of these dialects; `leads` says where a statement goes. */
function doorOf(dialects: readonly Dialect[], leads: (query: Query) => readonly Dialect[]) {
  const scripted = scriptedDoor({ answers: {} });
  const door: Pick<Door, "engines" | "target" | "query"> = {
    engines: () => dialects.map(engine),
    target: async (query) => {
      const found = leads(query);
      return found.length === 0 ? err(gatewayError("policy.denied")) : ok(found.map(engine));
    },
    query: (...parts) => scripted.query(...parts),
  };
  return door;
}

const readBy = (sql: string, door: Reading["door"]) =>
  readFor(sql, sessionOf(), { door, admit: () => undefined, signal: neverAborted });

const dialectOf = async (sql: string, door: Reading["door"]) => {
  const read = await readBy(sql, door);
  return read.ok ? read.value.session.dialect : read.error.code;
};

describe("readFor", () => {
  it("reads as the only kind of engine does, without asking where the text goes", async () => {
    const door = doorOf(["mysql", "mysql"], () => {
      throw new Error("not asked");
    });
    expect(await dialectOf("SELECT 'a\\'b'", door)).toBe("mysql");
  });

  it("reads as the engines where a text in that dialect goes", async () => {
    const door = doorOf(["duckdb", "mysql"], ({ sql }) =>
      sql.includes("big") ? ["mysql"] : ["duckdb"],
    );
    expect(await dialectOf("SELECT * FROM big", door)).toBe("mysql");
    expect(await dialectOf("SELECT * FROM small", door)).toBe("duckdb");
  });

  it("reads with care where nothing is certain", async () => {
    expect(
      await dialectOf(
        "SELECT 1",
        doorOf(["duckdb", "mysql"], () => ["duckdb", "mysql"]),
      ),
    ).toBe("generic");
    expect(
      await dialectOf(
        "SELECT 1",
        doorOf(["duckdb", "mysql"], () => []),
      ),
    ).toBe("generic");
    expect(
      await dialectOf(
        "SELECT 1",
        doorOf([], () => []),
      ),
    ).toBe("generic");
  });
});

describe("a long text", () => {
  it("is taken in for each dialect before it is read in it, and refused where that is", async () => {
    const taken: Dialect[] = [];
    const door = doorOf(["duckdb", "mysql"], () => []);
    const admit = async (_sql: string, dialect: Dialect) => {
      taken.push(dialect);
      return dialect === "mysql" ? gatewayError("query.textTooLarge") : undefined;
    };
    const read = await readFor("SELECT 1", sessionOf(), { door, admit, signal: neverAborted });
    expect(read).toMatchObject({ error: { code: "query.textTooLarge" } });
    expect(taken).toEqual(["duckdb", "mysql"]);
  });
});

describe("explained", () => {
  it("explains what reads or changes rows, and never what an engine would run", async () => {
    const door = doorOf(["duckdb"], () => []);
    const explain = async (sql: string) => {
      const read = await readBy(sql, door);
      const explaining = read.ok ? await explained(read.value, () => undefined) : read;
      return explaining.ok ? explaining.value.statement.sql : explaining.error.code;
    };
    expect(await explain("SELECT 1")).toBe("EXPLAIN SELECT 1");
    expect(await explain("DELETE FROM t")).toBe("EXPLAIN DELETE FROM t");
    for (const sql of ["ANALYZE DELETE FROM t", "(ANALYZE) SELECT 1", "CREATE TABLE t (a int)"]) {
      expect(await explain(sql)).toBe("query.unsupported");
    }
  });
});
