/** The control plane as a function, its deploy step and its upkeep as others, in front of a PostgreSQL server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildLambda } from "../../packages/gateway/bin/buildLambda.mjs";
import { stepAsFunction } from "../lambda/deployment.ts";
import { functionSuite } from "../lambda/function.suite.ts";
import { startInstance } from "../lambda/instance.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

functionSuite({
  server: "PostgreSQL",
  step: stepAsFunction,
  open: async () => {
    const { href, hostname, port } = await emptyDatabase("function_test");
    return { url: href, host: hostname, port: Number(port), [Symbol.asyncDispose]: async () => {} };
  },
});

describe("the upkeep as a function", () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-upkeep-"));
  let url: string;

  beforeAll(async () => {
    await buildLambda(folder);
    ({ href: url } = await emptyDatabase("upkeep_test"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("fails before the deploy step, and names both versions", async () => {
    await using upkeep = await startInstance({
      folder: join(folder, "upkeep"),
      links: { DatabaseUrl: url },
    });
    await expect(upkeep.run({})).rejects.toThrow(/older \(none\) than this program \(V\d+\)/);
  });

  it("deletes what the retention says and nothing else, on a linked database", async () => {
    const links = { DatabaseUrl: url };
    await using migration = await startInstance({ folder: join(folder, "migration"), links });
    await migration.run({});
    const client = new Client({ connectionString: url });
    await client.connect();
    const dayMs = 86_400_000;
    for (const days of [9, 8, 1]) {
      await client.query(
        "insert into audit_log (at, by_name, action, target, detail) values ($1, 'ann', 'login', '', '{}')",
        [Date.now() - days * dayMs],
      );
    }
    const variables = { GATEWAY_RETENTION: '{"auditDays":7}' };
    await using upkeep = await startInstance({ folder: join(folder, "upkeep"), links, variables });
    await upkeep.run({});
    const { rows } = await client.query("select count(*)::int as left from audit_log");
    await client.end();
    expect(rows).toEqual([{ left: 1 }]);
    expect(upkeep.log()).toContain('"event":"retention.deleted","kind":"audit","count":2');
  });
});
