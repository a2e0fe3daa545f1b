/** What is in the code that the deployment uploads. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileJsonSchema } from "@gateway/control/config/fileJsonSchema.ts";
import { packedSchema } from "@gateway/control/config/packedSchema.ts";
import { rootJsonSchema } from "@gateway/gateway/config/load.ts";
import { build } from "esbuild";
import { jsonSchemaTexts } from "../../packages/gateway/bin/jsonSchemas.mjs";
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

  const codeOf = (name: string): string =>
    readdirSync(join(folder, name))
      .filter((file) => file.endsWith(".mjs"))
      .map((file) => readFileSync(join(folder, name, file), "utf8"))
      .join("\n");

  it("reads for a worker nothing of the admin API", () => {
    const index = readFileSync(join(folder, "control/index.mjs"), "utf8");
    const paths = ["/query-records", "/run-tables"];
    expect(paths.map((path) => index.includes(path))).toEqual([true, false]);
    expect(paths.map((path) => codeOf("control").includes(path))).toEqual([true, true]);
  });

  it("reads for a worker no shape of an object of the configuration", () => {
    // Said by the schema of names, and in no document.
    const shape = "must be letters, digits, dots, dashes or underscores";
    const read = readWith(join(folder, "control"), "index.mjs");
    expect(read).toContain("/query-records");
    expect([read, codeOf("control")].map((code) => code.includes(shape))).toEqual([false, true]);
  });

  it("serves without what migrates: only the deploy step writes the ledger", () => {
    const [serving, migrating, sweeping] = ["control", "migration", "upkeep"].map((name) =>
      codeOf(name).includes("insert into drizzle."),
    );
    expect([serving, migrating, sweeping]).toEqual([false, true, false]);
  });

  it("has the JSON Schema of the configuration, as the sources make it, and does not make it at a start", async () => {
    const { fileJsonSchemaPacked, rootJsonSchemaPacked } = await jsonSchemaTexts(build);
    expect(parsed(fileJsonSchemaPacked)).toEqual(plain(fileJsonSchema()));
    expect(parsed(rootJsonSchemaPacked)).toEqual(plain(rootJsonSchema()));
    const code = codeOf("control");
    expect(code).toContain(JSON.parse(fileJsonSchemaPacked));
    expect(code).not.toContain("toJSONSchema(fileSchema");
  }, 60_000);

  it("has the migrations beside the code, to compare with the database", () => {
    const there = readdirSync(join(folder, "control/migrations")).filter((name) =>
      name.endsWith(".sql"),
    );
    const ours = readdirSync(new URL("../../migrations/", import.meta.url));
    expect(there).toEqual(ours.filter((name) => name.endsWith(".sql")));
    expect(there.length).toBeGreaterThan(0);
  });
});

/** The code of a part with all that its import brings along; what it asks for later is not among it. */
function readWith(folder: string, first: string): string {
  const found = new Set([first]);
  const texts: string[] = [];
  for (const name of found) {
    const text = readFileSync(join(folder, name), "utf8");
    texts.push(text);
    for (const [, part = ""] of text.matchAll(/(?:from|import)"\.\/([\w-]+\.mjs)"/g))
      found.add(part);
  }
  return texts.join("\n");
}

/** Of a constant: a JavaScript literal of a text. */
const parsed = (literal: string): unknown => packedSchema(JSON.parse(literal) as string);
const plain = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema)) as unknown;

const foreign =
  /packages\/frontends\/|packages.*\/(?:adapter|listen)\.ts$|\.node$|\.wasm$|node_modules\/(?:@electric-sql|koffi|@duckdb|esbuild|pino|prom-client|@hono\/node-server)\//;
