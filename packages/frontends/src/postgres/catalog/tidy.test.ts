import { readFile } from "node:fs/promises";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reader } from "./seed.ts";
import { logBytes, tidy } from "./tidy.ts";

const dataFile = new URL("../../../../gateway/dist/catalogMirror.tar.gz", import.meta.url);
const mb = 1 << 20;
const startMs = 60_000;

describe("tidy", () => {
  let pglite: PGlite;
  beforeAll(async () => {
    const loadDataDir = new Blob([new Uint8Array(await readFile(dataFile))]);
    pglite = await PGlite.create({ loadDataDir });
  }, startMs);
  afterAll(() => pglite.close());

  it(
    "cuts the log and frees what questions left, once it is worth it",
    async () => {
      await questions();
      const left = { log: await logBytes(pglite), roles: await rolesBytes() };
      expect(left.log).toBeGreaterThan(mb);
      await tidy(pglite, "roles");
      expect(await logBytes(pglite)).toBeLessThan(left.log / 10);
      await questions();
      expect(await rolesBytes()).toBeLessThan(left.roles * 1.5);
    },
    startMs,
  );

  it("leaves a short log alone", async () => {
    await tidy(pglite, "all");
    await pglite.exec("CREATE TABLE pg_catalog.small (id int)");
    const before = await logBytes(pglite);
    await tidy(pglite, "all");
    expect(await logBytes(pglite)).toBeGreaterThanOrEqual(before);
  });

  /** As the mirror asks: the role gets the user's name until the rollback. */
  async function questions(): Promise<void> {
    for (let turn = 0; turn < 3_000; turn += 1) {
      await pglite.exec(
        `BEGIN; UPDATE pg_authid SET rolname = 'u${turn}' WHERE rolname = '${reader}'; ROLLBACK`,
      );
    }
  }

  async function rolesBytes(): Promise<number> {
    const { rows } = await pglite.query<{ bytes: number }>(
      "SELECT gateway_pg_relation_size('pg_authid')::float8 AS bytes",
    );
    return rows[0]?.bytes ?? 0;
  }
});
