/** Where statements run behind a driver that nobody here knows: DuckDB's, taken for one. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { duckDbDriver } from "../duckDb/library/library.ts";
import { codeOf, hostOf, identifiedOf, never, ran } from "../rig/backend.ts";
import { backendOf } from "./adapter.ts";
import { processLimits } from "./client/connections.ts";
import { profileOf } from "./profile.ts";

const where = "select current_catalog(), current_schema()";
const home = [["memory", "main"]];
let clusters = 0;

describe("a session's catalog and schema", () => {
  let backend: Backend;
  beforeEach(async () => {
    backend = unknownDriver();
    await ran(backend, "create schema away");
  });
  afterEach(() => backend[Symbol.asyncDispose]());

  it("are where its statements run, and no other session's", async () => {
    for (const _turn of [1, 2]) {
      const away = await ran(backend, where, { session: { catalog: "memory", schema: "away" } });
      expect(away.rows).toEqual([["memory", "away"]]);
    }
    expect((await ran(backend, where, { session: { catalog: "memory" } })).rows).toEqual(home);
    expect((await ran(backend, where, { session: { schema: "away" } })).rows).toEqual([
      ["memory", "away"],
    ]);
    expect((await ran(backend, where)).rows).toEqual(home);
  });

  it("are refused each time where the driver can not go, and nothing runs", async () => {
    for (const session of [{ catalog: "nowhere" }, { catalog: "nowhere" }, { catalog: "away" }]) {
      const answer = await ran(backend, "create table made (a integer)", { session });
      expect(answer.last).toMatchObject({
        kind: "failed",
        error: {
          code: "query.unsupported",
          message: `the driver can not go to the catalog "${session.catalog}"`,
        },
      });
    }
    const session = { catalog: "memory", schema: "nowhere" };
    expect(codeOf(await ran(backend, where, { session }))).toBe("query.unsupported");
    const described = await backend.describe(identifiedOf(where, [], session), never);
    expect(described).toMatchObject({ ok: false, error: { code: "query.unsupported" } });
    expect(codeOf(await ran(backend, "select * from made"))).toBe("engine.failed");
    expect((await ran(backend, where)).rows).toEqual(home);
  });
});

function unknownDriver(): Backend {
  const driver = duckDbDriver();
  if (!driver.ok) throw new Error(driver.error);
  const cluster = `place${(clusters += 1)}`;
  const options = [["path", ":memory:"]] as const;
  const plan = {
    cluster,
    profile: profileOf(undefined),
    library: { ...driver.value, inspect: "none" as const },
    size: 1,
    limits: processLimits,
    shared: { key: cluster, settings: "" },
    options: () => Promise.resolve({ ok: true as const, value: { options, setup: [] } }),
  };
  return backendOf(plan, undefined, hostOf());
}
