import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeOf, hostOf, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { duckDbConfig } from "../config.ts";
import { realDatabasePath } from "../../native/reach/sharing.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "duckdb-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("shareDatabase", () => {
  it("opens a file once, whatever cluster or path names it", async () => {
    const path = join(folder, "shared.db");
    const link = join(folder, "linked.db");
    await using first = await backendOf("first", { databasePath: path });
    await symlink(path, link);
    await using second = await backendOf("second", { databasePath: link });
    await ran(first, "create table t as select 1 as a");
    expect((await ran(second, "select a from t")).rows).toEqual([[1n]]);
    await first[Symbol.asyncDispose]();
    expect((await ran(second, "select a from t")).rows).toEqual([[1n]]);
  });

  it("keeps what is on disk when the last one lets go, and lets others open the file then", async () => {
    const path = join(folder, "kept.db");
    {
      await using backend = await backendOf("kept", { databasePath: path });
      await ran(backend, "create table t as select 7 as a");
    }
    await using again = await backendOf("kept", { databasePath: path, readOnly: true });
    expect((await ran(again, "select a from t")).rows).toEqual([[7n]]);
    expect((await ran(again, "delete from t")).last?.kind).toBe("failed");
  });

  it("keeps a database in memory over a reload of its cluster, and apart from other clusters", async () => {
    const before = await backendOf("memory", {});
    await ran(before, "create table t as select 1 as a");
    await using after = await backendOf("memory", {});
    await before[Symbol.asyncDispose]();
    expect((await ran(after, "select a from t")).rows).toEqual([[1n]]);
    await using other = await backendOf("elsewhere", {});
    expect(codeOf(await ran(other, "select a from t"))).toBe("query.unknownObject");
  });

  it("refuses to open with other settings than the database has already", async () => {
    const path = join(folder, "settled.db");
    await using _first = await backendOf("settled", { databasePath: path });
    const config = duckDbConfig.parse({
      engine: "duckDb",
      databasePath: path,
      allowedDirectories: [folder],
    });
    const second = await open("settled", config, hostOf());
    expect(second).toMatchObject({ ok: false, error: { code: "cluster.connectFailed" } });
  });

  it("refuses a file that is no database, with the reason for the operator", async () => {
    const path = join(folder, "text.db");
    await writeFile(
      path,
      "this is no database at all, but it is long enough to be looked at".repeat(100),
    );
    const opened = await open(
      "broken",
      duckDbConfig.parse({ engine: "duckDb", databasePath: path }),
      hostOf(),
    );
    expect(opened).toMatchObject({ ok: false, error: { code: "cluster.connectFailed" } });
    expect(!opened.ok && opened.error.detail).toContain("not a valid DuckDB");
  });
});

describe("realDatabasePath", () => {
  it("follows links, also to a folder whose file is not there yet", async () => {
    await mkdir(join(folder, "real"));
    await symlink(join(folder, "real"), join(folder, "link"));
    const named = (path: string) => realDatabasePath(path);
    expect(named(join(folder, "link", "new.db"))).toBe(named(join(folder, "real", "new.db")));
    expect(named(":memory:")).toBe(":memory:");
  });
});

async function backendOf(cluster: string, more: object) {
  const config = duckDbConfig.parse({ engine: "duckDb", threads: 1, ...more });
  return valueOf(await open(`database-${cluster}`, config, hostOf()));
}
