/**
 * The database's functions, one file each (`migrations/functions/`), are the ones that the migrations make.
 *
 * A numbered migration carries each change, because Drizzle's own tool knows nothing else and an older program
 * beside a newer one must not put its own back. The files are what is read and edited: a change is made there and
 * copied into the next migration, and this fails until it is.
 */
import { readFile, readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asked, testDatabase, type TestDatabase } from "./rig/database.ts";

const folder = new URL("../../../../migrations/functions/", import.meta.url);

const definitions = `select p.proname, pg_get_functiondef(p.oid)
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname = 'public' and p.prokind = 'f' order by 1, 2`;

describe("functions of the database", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
  });

  async function made(): Promise<ReadonlyMap<string, string>> {
    const { rows } = await asked(database.database, definitions);
    const pairs = rows.map(([name, text]): [string, string] => [name ?? "", text ?? ""]);
    const found = new Map(pairs);
    // Two of one name, such as an older one with other parameters, would be one line here.
    expect(found.size).toBe(pairs.length);
    return found;
  }

  /** Bodies are compared and not checked: functions call others that come later. */
  async function apply(texts: readonly string[]): Promise<void> {
    const script = ["set check_function_bodies = off", ...texts].join(";\n");
    const applied = await database.database.script(script);
    expect(applied).toMatchObject({ ok: true });
  }

  it("have a file each, of one function", async () => {
    const names = [...(await made()).keys()];
    const files = await readdir(folder);
    expect(files.toSorted()).toEqual(names.map((name) => `${name}.sql`).toSorted());
    for (const name of names) {
      const text = await fileOf(name);
      const heads = [...text.matchAll(/^CREATE OR REPLACE FUNCTION (\w+)\(/gm)];
      expect(heads.map(([, head]) => head)).toEqual([name]);
    }
  });

  it("are what the migrations make, and a change of one is seen", async () => {
    const before = await made();
    await apply(await Promise.all([...before.keys()].map(fileOf)));
    expect(await made()).toEqual(before);

    const changed = (await fileOf("capacity_now")).replace("SELECT", "SELECT 1 +");
    await apply([changed]);
    const after = await made();
    const differing = [...after].filter(([name, text]) => before.get(name) !== text);
    expect(differing.map(([name]) => name)).toEqual(["capacity_now"]);
  });
});

async function fileOf(name: string): Promise<string> {
  return await readFile(new URL(`${name}.sql`, folder), "utf8");
}
