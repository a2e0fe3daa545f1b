/** The 22 queries of TPC-H and the 99 of TPC-DS over every wire, each answered as by the engine itself. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { compare, type Asked } from "../ordinary/compare.ts";
import { directOf } from "../ordinary/direct.ts";
import { programOf } from "../ordinary/program.ts";
import { wires } from "../ordinary/wires.ts";

/** A Python with DuckDB and the extensions that make the tables; test/real/cases/tpc.mjs names it. */
const python = process.env["TPC_PYTHON"];
const script = fileURLToPath(new URL("tpcData.py", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gateway-tpc-"));
const limitMs = 300_000;

afterAll(() => rmSync(folder, { recursive: true }));

// Without that Python there are no tables to ask.
describe.skipIf(python === undefined)("a benchmark's queries", () => {
  it.each([
    ["tpch", 22],
    ["tpcds", 99],
  ])(
    "are answered over every wire as by the engine: %s",
    async (name, count) => {
      execFileSync(python ?? "", [script, name, folder]);
      const databasePath = join(folder, `${name}.duckdb`);
      await using gateway = await programOf({ databasePath, readOnly: true, threads: 1 });
      const open = await Promise.all(wires.map((openWire) => openWire(gateway)));
      const direct = await directOf([], databasePath);
      const queries: Asked[] = [];
      for (const query of JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"))) {
        const sql = query.sql.trim().replace(/;$/, "");
        queries.push({ name: query.name, sql });
      }
      const { answers, rows, differences } = await compare(direct, open, queries);
      await Promise.all(open.map((wire) => wire.close()));
      direct.close();
      process.stdout.write(`${name}: ${answers} answers with ${rows} rows compared\n`);
      expect(differences).toEqual([]);
      expect(answers).toBe(count * wires.length);
    },
    limitMs,
  );
});
