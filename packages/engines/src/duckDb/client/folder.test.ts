/** An embedded database over the files of a folder. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeOf, hostOf, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { duckDbConfig } from "../config.ts";
import { folderStatements } from "./folder.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "contents-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("folderStatements", () => {
  it("serves each file that can be read as a view, by a name without quotes", async () => {
    const files = join(folder, "files");
    await mkdir(join(files, "deeper"), { recursive: true });
    await writeFile(join(files, "sales 2024.csv"), "day,amount\n2024-01-01,1.5\n");
    await writeFile(join(files, "people.json"), '[{"name":"Ada"}]');
    await writeFile(join(files, "people.csv"), "name\nBjörn\n");
    await writeFile(join(files, "2nd.ndjson"), '{"a":1}\n{"a":2}\n');
    await writeFile(join(files, "star*[1].csv"), "s\n1\n");
    await writeFile(join(files, "broken.parquet"), "no parquet");
    await writeFile(join(files, "notes.txt"), "nothing");
    await writeFile(join(files, ".hidden.csv"), "a\n1\n");
    const config = duckDbConfig.parse({ engine: "duckDb", allowedDirectories: [files] });
    await using backend = valueOf(
      await open("folder", config, hostOf(), { kind: "folder", folder: files }),
    );
    const names = await ran(
      backend,
      "select view_name from duckdb_views() where not internal order by 1",
    );
    expect(names.rows.flat()).toEqual(["_2nd", "people", "people_json", "sales_2024", "star_1_"]);
    expect((await ran(backend, "select sum(amount) from sales_2024")).rows).toEqual([[1.5]]);
    expect(
      (await ran(backend, "select name from people union all select name from people_json")).rows,
    ).toEqual([["Björn"], ["Ada"]]);
    expect((await ran(backend, "select count(*) from _2nd")).rows).toEqual([[2n]]);
    expect(codeOf(await ran(backend, "select * from broken"))).toBe("query.unknownObject");
  });

  it("gives names that differ even without regard to case", async () => {
    const files = join(folder, "names");
    await mkdir(files);
    for (const name of ["A.csv", "a.json", "a!.csv", "a?.csv", "_.csv"])
      await writeFile(join(files, name), "x\n1\n");
    const statements = await folderStatements(files);
    const views = statements.map(({ sql }) => /VIEW "([^"]*)"/.exec(sql)?.[1]?.toLowerCase());
    expect(new Set(views).size).toBe(5);
  });

  it("refuses a folder that is not there", async () => {
    const missing = join(folder, "missing");
    const config = duckDbConfig.parse({ engine: "duckDb", allowedDirectories: [missing] });
    const opened = await open("missing", config, hostOf(), { kind: "folder", folder: missing });
    expect(opened).toMatchObject({ ok: false, error: { code: "cluster.connectFailed" } });
  });
});
