/** What is in the code that the deployment uploads. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildLambda } from "../../packages/gateway/bin/buildLambda.mjs";

const bytesMax = 2 * 1024 * 1024;

describe("buildLambda", () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-lambda-"));
  let built: Awaited<ReturnType<typeof buildLambda>>;

  beforeAll(async () => {
    built = await buildLambda(folder);
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("stays under 2 MB", () => {
    for (const { bytes } of Object.values(built)) expect(bytes).toBeLessThan(bytesMax);
  });

  it("holds no frontend, no engine adapter, no embedded database and no native code", () => {
    for (const { inputs } of Object.values(built)) {
      expect(inputs.length).toBeGreaterThan(50);
      expect(inputs.filter((path) => foreign.test(path))).toEqual([]);
    }
  });

  it("serves without what migrates: only the deploy step writes the ledger", () => {
    const [serving, migrating, sweeping] = ["control", "migration", "upkeep"].map((name) =>
      readFileSync(join(folder, name, "index.mjs"), "utf8").includes("insert into drizzle."),
    );
    expect([serving, migrating, sweeping]).toEqual([false, true, false]);
  });

  it("has the migrations beside the code, to compare with the database", () => {
    const there = readdirSync(join(folder, "control/migrations")).filter((name) =>
      name.endsWith(".sql"),
    );
    const ours = readdirSync(new URL("../../migrations/", import.meta.url));
    expect(there).toEqual(ours.filter((name) => name.endsWith(".sql")));
    expect(there.length).toBeGreaterThan(0);
  });
});

const foreign =
  /packages\/frontends\/|packages.*\/(?:adapter|listen)\.ts$|\.node$|\.wasm$|node_modules\/(?:@electric-sql|koffi|@duckdb|esbuild|pino|prom-client|@hono\/node-server)\//;
