import type { Statements } from "@gateway/control/store/database.ts";
import { migrationsOf, type Migration } from "@gateway/control/store/migrate/migration.ts";
import { ok } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { judgeSchema } from "./schema.ts";

describe("judgeSchema", () => {
  it("accepts a database with exactly the program's migrations", async () => {
    const files = filesOf("V001", "V002");
    expect(await judgeSchema(databaseWith(files), files)).toEqual(ok(undefined));
  });

  it("refuses an older database, with both versions", async () => {
    const judged = await judgeSchema(
      databaseWith(filesOf("V001")),
      filesOf("V001", "V002", "V003"),
    );
    const detail = judged.ok ? "" : judged.error.detail;
    expect([judged.ok, detail.includes("V001"), detail.includes("V003")]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("refuses a newer database, with both versions", async () => {
    const judged = await judgeSchema(databaseWith(filesOf("V001", "V002")), filesOf("V001"));
    const detail = judged.ok ? "" : judged.error.detail;
    expect([judged.ok, detail.includes("V002"), detail.includes("V001")]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("refuses an empty database: a function never makes one", async () => {
    const judged = await judgeSchema(databaseWith([]), filesOf("V001"));
    expect(!judged.ok && judged.error.code).toBe("databaseVersion");
  });

  it("tells a database that does not answer from one that does not fit", async () => {
    const down: Statements = {
      ...databaseWith([]),
      run: async () => ({ ok: false, error: { kind: "unreachable", code: "ECONNREFUSED" } }),
    };
    const judged = await judgeSchema(down, filesOf("V001"));
    expect(!judged.ok && judged.error).toEqual({ code: "unavailable", detail: "ECONNREFUSED" });
  });
});

function filesOf(...versions: readonly string[]): readonly Migration[] {
  const entries = versions.map((version, index) => ({ tag: `${version}__step`, when: index + 1 }));
  const files = Object.fromEntries(entries.map(({ tag }) => [tag, `select '${tag}'`]));
  const read = migrationsOf({ journal: JSON.stringify({ entries }), files });
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}

/** Answers the two questions of the ledger. */
function databaseWith(files: readonly Migration[]): Statements {
  return {
    run: async (sql) => {
      const rows = sql.includes("to_regclass")
        ? [["drizzle.__drizzle_migrations", "drizzle.gateway_migrations"]]
        : files.map(({ hash, when, name }) => [hash, String(when), name]);
      return ok({ rows, count: 0 });
    },
    script: async () => ok(undefined),
  };
}
