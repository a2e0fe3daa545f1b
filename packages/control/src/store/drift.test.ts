/**
 * The tables of the code are the tables that the migrations make. Drizzle Kit is asked on a copy of
 * both, so that a difference fails here and writes nothing into the tree.
 */
import { execFile } from "node:child_process";
import { appendFile, cp, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url));
const tables = join("packages", "control", "src", "store");
const testTimeoutMs = 60_000;

describe("migrations", { timeout: testTimeoutMs }, () => {
  let copy = "";
  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), "drift-"));
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    for (const name of ["drizzle.config.ts", "migrations"]) {
      await cp(join(root, name), join(copy, name), { recursive: true });
    }
    for (const name of await readdir(join(root, tables))) {
      if (!/\.sql\.ts$|^(?:columns|store)\.ts$/.test(name)) continue;
      await cp(join(root, tables, name), join(copy, tables, name));
    }
  });
  afterAll(async () => {
    await rm(copy, { recursive: true, force: true });
  });

  /** What Drizzle Kit says. */
  async function kit(...words: readonly string[]): Promise<string> {
    const program = join(root, "node_modules", "drizzle-kit", "bin.cjs");
    const { stdout } = await run(process.execPath, [program, ...words], { cwd: copy });
    return stdout;
  }

  it("are a line of snapshots without a fork", async () => {
    expect(await kit("check")).toContain("Everything's fine");
  });

  it("make exactly the tables of the code, and a further column is seen", async () => {
    const before = await readdir(join(copy, "migrations"));
    const answer = await kit("generate", "--name", "V999__drift");
    expect(answer).toContain("No schema changes");
    expect(await readdir(join(copy, "migrations"))).toEqual(before);

    const more = '\nexport const drift = pgTable("drift", { name: text("name") });\n';
    await appendFile(join(copy, tables, "audit.sql.ts"), more);
    await kit("generate", "--name", "V999__drift");
    expect(await readdir(join(copy, "migrations"))).toEqual(
      expect.arrayContaining(["_V999__drift.sql"]),
    );
  });

  it("are named by version, each with its snapshot, and begin with what they are for", async () => {
    const folders = ["meta", "functions"];
    const files = (await readdir(join(root, "migrations"))).filter(
      (name) => !folders.includes(name),
    );
    expect(files.filter((name) => !/^V\d{3}__[a-z0-9_]+\.sql$/.test(name))).toEqual([]);
    const snapshots = await readdir(join(root, "migrations", "meta"));
    const expected = files.map((name) => `${name.slice(0, 4)}_snapshot.json`);
    expect(snapshots.toSorted()).toEqual([...expected, "_journal.json"].toSorted());
  });
});
