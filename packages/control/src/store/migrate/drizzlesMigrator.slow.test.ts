import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { migrate as drizzleMigrate } from "drizzle-orm/pglite/migrator";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { err, ok } from "@gateway/core/result.ts";
import { hostOf } from "../driver/driver.suite.ts";
import { openPglite } from "../driver/pglite.ts";
import type { Database } from "../database.ts";
import { migrate, pending } from "./migrate.ts";
import { readMigrations, type Migration } from "./migration.ts";

describe("migrate and Drizzle's own migrator", () => {
  let root: string;
  let folder: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "migrate-test-"));
    folder = join(root, "migrations");
    await mkdir(join(folder, "meta"), { recursive: true });
  });

  beforeEach(async () => {
    await journal(folder, {});
    await rm(join(root, "db"), { recursive: true, force: true });
  });

  afterAll(async () => {
    await rm(root, { recursive: true });
  });

  it("agree on what is applied, whoever comes first", async () => {
    const one = {
      V001__one: "create table t (i int);\n--> statement-breakpoint\ninsert into t values (1);",
    };
    const two = { ...one, V002__two: "insert into t values (2);" };
    const three = { ...two, V003__three: "insert into t values (3);" };
    await journal(folder, one);
    expect(await ours(root, folder)).toEqual(ok({ applied: ["V001__one"] }));
    await journal(folder, two);
    expect(await drizzles(root, folder)).toBe("1,2");
    expect(await ours(root, folder)).toEqual(ok({ applied: [] }));
    await journal(folder, three);
    expect(await ours(root, folder)).toEqual(ok({ applied: ["V003__three"] }));
    expect(await drizzles(root, folder)).toBe("1,2,3");
  }, 60_000);

  it("names what Drizzle's migrator applied as soon as our runner saw it", async () => {
    await journal(folder, { V001__one: "create table t (i int);", V002__two: "select 1;" });
    await drizzles(root, folder);
    const files = await filesIn(folder);
    await using database = await openedAt(join(root, "db"));
    const older = files.slice(0, 1);
    expect(await pending(database, older)).toEqual(
      err({ code: "newer", database: "unknown", program: "V001" }),
    );
    expect(await migrate(database, files)).toEqual(ok({ applied: [] }));
    expect(await pending(database, older)).toEqual(
      err({ code: "newer", database: "V002", program: "V001" }),
    );
  }, 60_000);
});

async function ours(root: string, folder: string): Promise<unknown> {
  await using database = await openedAt(join(root, "db"));
  return await migrate(database, await filesIn(folder));
}

/** Runs Drizzle's migrator on the same folder and answers what the table holds then. */
async function drizzles(root: string, folder: string): Promise<string> {
  await mkdir(join(root, "db", "data"), { recursive: true });
  const pglite = await PGlite.create({ dataDir: join(root, "db", "data") });
  await drizzleMigrate(drizzle(pglite), { migrationsFolder: folder });
  const { rows } = await pglite.query<{ all: string }>(
    "select string_agg(i::text, ',' order by i) as all from t",
  );
  await pglite.close();
  return rows[0]?.all ?? "";
}

/** Writes the folder as Drizzle Kit lays it out; the files are a millisecond apart. */
async function journal(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.keys(files).map((tag, idx) => ({
    idx,
    version: "7",
    when: 1_700_000_000_000 + idx,
    tag,
    breakpoints: true,
  }));
  const text = JSON.stringify({ version: "7", dialect: "postgresql", entries });
  await writeFile(join(folder, "meta", "_journal.json"), text);
  for (const [tag, sql] of Object.entries(files)) await writeFile(join(folder, `${tag}.sql`), sql);
}

async function filesIn(folder: string): Promise<readonly Migration[]> {
  const read = await readMigrations(folder);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

async function openedAt(path: string): Promise<Database> {
  const opened = await openPglite({ path, host: hostOf() });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  return opened.value;
}
