import { describe, expect, it } from "vitest";
import { tableDefault, type Catalog, type CatalogAnswer } from "../port/sql/catalog.ts";
import type {
  SqlRequest,
  SqlTasks,
  SqlWork,
  TranslatedText,
  TypedTable,
} from "../port/sql/sqlWork.ts";
import { err, ok, type Result } from "../result.ts";
import { virtualHost } from "../rig/virtual.ts";
import { queryOf } from "../run/rig/plane.ts";
import type { SqlWorkFault } from "../port/sql/sqlWork.ts";
import type { Dialect } from "../sql/dialect.ts";
import { readStatement } from "../sql/statement.ts";
import { translatorOf, type Translator } from "./translator.ts";

const modes = {
  bestEffort: { mode: "bestEffort", errorOnUnsupported: false },
  careful: { mode: "bestEffort", errorOnUnsupported: true },
  strict: { mode: "strict", errorOnUnsupported: false },
} as const;

describe("translatorOf", () => {
  it("is none where the mode is off", () => {
    expect(translatorOf(undefined, virtualHost(1))).toBeUndefined();
    const off = { mode: "off", errorOnUnsupported: true } as const;
    expect(translatorOf(off, virtualHost(1))).toBeUndefined();
  });

  it("asks once for a text, and answers the next one at once", async () => {
    const { ask, asked } = rigOf(made("SELECT 2"));
    expect(await ask("SELECT 1")).toEqual(ok("SELECT 2"));
    expect(ask("SELECT 1")).toEqual(ok("SELECT 2"));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ source: "postgres", target: "duckdb", proves: false });
  });

  it("asks nothing where the dialects agree, of a client of none, and of statements about the session", () => {
    const { ask, asked } = rigOf(made("SELECT 2"), "strict");
    expect(ask("SELECT 1", { target: "postgres" })).toEqual(ok(undefined));
    expect(ask("SELECT 1", { dialect: "generic" })).toEqual(ok(undefined));
    for (const sql of ["BEGIN", "SHOW TABLES", "SET a = 1", "EXPLAIN SELECT 1"]) {
      expect(ask(sql)).toEqual(ok(undefined));
    }
    expect(asked).toHaveLength(0);
  });

  it("hands over no comment, and a text of another lexis in that of its grammar", async () => {
    const { ask, asked } = rigOf(made("SELECT `a`"));
    await ask("SELECT /*! 1 */ a -- b\nFROM t");
    expect(asked[0]?.sql).toBe("SELECT   a  \nFROM t");
    await ask(`SELECT "a" FROM t WHERE b = 'it''s \\'`, { dialect: "duckdb", grammar: "mysql" });
    expect(asked[1]).toMatchObject({
      source: "mysql",
      sql: "SELECT `a` FROM t WHERE b = 'it''s \\\\'",
    });
  });

  it.each<[TranslatedText, string | undefined, boolean, boolean]>([
    [{ kind: "unread" }, undefined, true, true],
    [{ kind: "asWritten" }, undefined, false, false],
  ])("sends what is %j as it was written, or refuses", async (answer, sent, careful, strict) => {
    expect(await rigOf(ok(answer)).ask("SELECT 1")).toEqual(ok(sent));
    expect((await rigOf(ok(answer), "careful").ask("SELECT 1")).ok).toBe(!careful);
    expect((await rigOf(ok(answer), "strict").ask("SELECT 1")).ok).toBe(!strict);
  });

  it("says under strict what was not tested", async () => {
    const { ask } = rigOf(ok({ kind: "untested", words: ["frobnicate/1"] }), "strict");
    expect(await ask("SELECT frobnicate(1)")).toMatchObject({
      error: { code: "query.unsupported", message: expect.stringContaining("(frobnicate/1)") },
    });
  });

  it("refuses for an engine of no known dialect where it would send what it can not translate", async () => {
    expect(await rigOf(made("x")).ask("SELECT 1", { target: undefined })).toEqual(ok(undefined));
    const strict = await rigOf(made("x"), "strict").ask("SELECT 1", { target: undefined });
    expect(strict).toMatchObject({ error: { code: "query.unsupported" } });
  });

  it.each<[SqlWorkFault, string]>([
    ["tooLong", "query.unsupported"],
    ["slow", "query.unsupported"],
    ["busy", "translation.busy"],
    ["broken", "translation.busy"],
  ])(
    "refuses under every mode a text whose work was %s, and asks again for it",
    async (fault, code) => {
      for (const mode of ["bestEffort", "careful", "strict"] as const) {
        const { ask, asked } = rigOf(err(fault), mode);
        expect(await ask("SELECT 1")).toMatchObject({ error: { code } });
        await ask("SELECT 1");
        expect(asked).toHaveLength(2);
      }
    },
  );

  // What a translator would have to be wrong about, and what a client could do with it.
  it.each<[string, string, Dialect]>([
    ["SELECT 'it''s'", "SELECT 'its'", "duckdb"],
    ["SELECT 'a\\'", "SELECT 'a\\'", "mysql"],
    ["SELECT 'a'' OR 1=1 --'", "SELECT 'a' OR 1=1 --'", "duckdb"],
    ["SELECT 1", "SELECT 1; DROP TABLE t", "duckdb"],
    ["SELECT 1", "DROP TABLE t", "duckdb"],
    ["SELECT 1", "SELECT 1 /*! + 1 */", "mysql"],
    ["SELECT 1", "SELECT 'new''one'", "duckdb"],
    ["SELECT $1, $2", "SELECT $1", "duckdb"],
    ["SELECT $1", "SELECT $1, $2", "duckdb"],
    ["SELECT $1", "SELECT '$1'", "duckdb"],
    ["SELECT a FROM t", "WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x", "postgres"],
  ])("believes no translation of %s to %s", async (sql, wrong, target) => {
    const dialect = target === "postgres" ? "duckdb" : "postgres";
    expect(await rigOf(made(wrong)).ask(sql, { dialect, target })).toEqual(ok(undefined));
    const strict = await rigOf(made(wrong), "strict").ask(sql, { dialect, target });
    expect(strict).toMatchObject({ error: { code: "query.unsupported" } });
  });

  it.each([
    ["SELECT $2, $1 LIMIT $3", "SELECT $2, $1 FETCH FIRST $3 ROWS ONLY"],
    ["SELECT 'it''s', \"A b\"", "SELECT 'it''s', \"A b\""],
    ["SELECT to_char(a, 'YYYY')", "SELECT strftime(a, '%Y')"],
  ])("takes for %s the text %s", async (sql, right) => {
    expect(await rigOf(made(right), "strict").ask(sql)).toEqual(ok(right));
  });

  it("waits for nobody who left", async () => {
    const client = new AbortController();
    const { ask } = rigOf(made("SELECT 2"));
    const answer = ask("SELECT 1", { signal: client.signal });
    client.abort();
    expect(await answer).toMatchObject({ error: { code: "query.cancelled" } });
  });
});

describe("a text that hangs on types", () => {
  const wanted: Answer = ok({ kind: "typesWanted", tables: [["sales"], ["shop", "t"]] });
  const known = (types: readonly string[], untilMs = 1_000): CatalogAnswer => ({
    kind: "known",
    isView: false,
    columns: types.map((_, index) => `C${index}`),
    types,
    untilMs,
  });

  it("is asked for again with what the catalog tells, and remembered until that is too old", async () => {
    const asked: (readonly string[])[] = [];
    const rig = typedRig([wanted, made("SELECT 2"), wanted, made("SELECT 3")], (path) => {
      asked.push(path);
      return known([
        "INTEGER",
        "Nullable(UInt64)",
        "DOUBLE",
        "DECIMAL(9,2)",
        "bigint(20) unsigned",
        "DATE",
        "INTEGER[]",
        "HUGEINT",
      ]);
    });
    expect(await rig.ask("SELECT a / 2 FROM sales, shop.t")).toEqual(ok("SELECT 2"));
    expect(rig.ask("SELECT a / 2 FROM sales, shop.t")).toEqual(ok("SELECT 2"));
    expect(asked).toEqual([
      [tableDefault, "sales"],
      ["shop", "t"],
    ]);
    expect(rig.types[0]).toBe("wanted");
    expect(rig.types[1]).toMatchObject([{ path: ["sales"] }, { path: ["shop", "t"] }]);
    const [table] = rig.types[1] as readonly TypedTable[];
    expect(table?.columns.map(({ type }) => type)).toEqual([
      "bigint",
      "bigint",
      "double precision",
      "numeric",
      "bigint",
      "text",
      "text",
      "numeric",
    ]);
    await rig.host.advance(1_000);
    expect(await rig.ask("SELECT a / 2 FROM sales, shop.t")).toEqual(ok("SELECT 3"));
  });

  it("is asked for again without, and not remembered, where the catalog is too slow", async () => {
    const rig = typedRig([wanted, made("SELECT 2"), wanted, made("SELECT 2")], (path, signal) =>
      path.includes("t")
        ? new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve({ kind: "unavailable" }));
          })
        : known(["INTEGER"]),
    );
    const answer = rig.ask("SELECT a / 2 FROM sales, shop.t");
    await rig.host.advance(50);
    expect(await answer).toEqual(ok("SELECT 2"));
    expect(rig.types).toEqual(["wanted", undefined]);
    const again = rig.ask("SELECT a / 2 FROM sales, shop.t");
    await rig.host.advance(50);
    await again;
    expect(rig.types).toHaveLength(4);
  });

  it("has no types where one of its tables is not known", async () => {
    const rig = typedRig([wanted, made("SELECT 2")], (path) =>
      path.includes("t") ? { kind: "unknown", untilMs: 500 } : known(["INTEGER"]),
    );
    expect(await rig.ask("SELECT a / 2 FROM sales, shop.t")).toEqual(ok("SELECT 2"));
    expect(rig.types).toEqual(["wanted", undefined]);
  });
});

function typedRig(
  answers: readonly Answer[],
  table: (path: readonly string[], signal: AbortSignal) => ReturnType<Catalog["table"]>,
) {
  const host = virtualHost(1);
  const types: SqlTasks["translate"]["input"]["types"][] = [];
  const left = [...answers];
  const sql: SqlWork = {
    ask: async ({ input }: SqlRequest<keyof SqlTasks>) => {
      types.push((input as SqlTasks["translate"]["input"]).types);
      return left.shift() ?? made("SELECT 0");
    },
  };
  // The process's own setting counts where it has one.
  const config = { ...modes.bestEffort, schemaResolutionTimeoutMs: 60_000 };
  const parts = { ...host, sql, localResolutionMs: 50 };
  const translator = translatorOf(config, parts, { nameParts: 2, table }) as Translator;
  const ask = (text: string) => {
    const statement = readStatement(text, "postgres");
    const query = { ...queryOf(text), statement, allowedSql: text, group: "main" };
    const session = { ...query.session, schema: undefined, catalog: undefined };
    return translator.translated({ ...query, session }, "duckdb", new AbortController().signal);
  };
  return { host, ask, types };
}

type Answer = Result<TranslatedText, SqlWorkFault>;

function made(sql: string): Answer {
  return ok({ kind: "translated", sql });
}

interface Asked {
  readonly dialect?: Dialect;
  readonly grammar?: Dialect;
  readonly target?: Dialect | undefined;
  readonly signal?: AbortSignal;
}

function rigOf(answer: Answer, mode: keyof typeof modes = "bestEffort") {
  const asked: SqlTasks["translate"]["input"][] = [];
  const sql: SqlWork = {
    ask: async ({ input }: SqlRequest<keyof SqlTasks>) => {
      asked.push(input as SqlTasks["translate"]["input"]);
      return answer;
    },
  };
  const translator = translatorOf(modes[mode], { ...virtualHost(1), sql }) as Translator;
  const ask = (text: string, more: Asked = {}) => {
    const { dialect = "postgres", grammar, signal = new AbortController().signal } = more;
    const query = queryOf(text);
    const session = { ...query.session, dialect, grammar };
    const statement = readStatement(text, dialect);
    const target = "target" in more ? more.target : "duckdb";
    return translator.translated(
      { ...query, session, statement, allowedSql: text, group: "main" },
      target,
      signal,
    );
  };
  return { ask, asked };
}
