/** What node-postgres does when its connections are cut by the server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { err, ok } from "@gateway/core/result.ts";
import { hostOf } from "@gateway/control/store/driver/driver.suite.ts";
import { openPostgres } from "@gateway/control/store/driver/postgres.ts";
import type { Database } from "@gateway/control/store/database.ts";
import { Secret } from "@gateway/core/secret.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const host = hostOf();
/** Everybody else on this database. */
const cutAll =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

describe("openPostgres", () => {
  let url: URL;
  let database: Database;

  beforeAll(async () => {
    url = await emptyDatabase("restart_test");
    database = opened(url);
  });

  afterAll(async () => {
    await database[Symbol.asyncDispose]();
  });

  it("wakes a listener again after its connection was cut", async () => {
    const waits: (() => void)[] = [];
    let wakes = 0;
    const nextWake = (): Promise<void> => new Promise((resolve) => void waits.push(resolve));
    const first = nextWake();
    await using _listener = database.listen?.("moved", () => {
      wakes += 1;
      waits.shift()?.();
    });
    await first;
    const again = nextWake();
    await database.run(cutAll);
    await again;
    const notified = nextWake();
    await database.run("notify moved");
    await notified;
    expect(wakes).toBe(3);
  });

  it("goes on after its connections were cut", async () => {
    await using other = opened(url);
    await other.run("select 1");
    await database.run(cutAll);
    // The cut connection may be noticed by the pool, or by the statement that finds it; not by two.
    const answers = [await other.run("select 1"), await other.run("select 1")];
    expect(answers.at(-1)?.ok).toBe(true);
  });

  it("does not call a transaction committed whose connection was cut in the middle", async () => {
    await database.script("create table cut (i int)");
    await using other = opened(url);
    const outcome = await other.transaction(async (statements) => {
      await statements.run("insert into cut values (1)");
      await database.run(cutAll);
      return ok("done");
    });
    expect(outcome.ok).toBe(false);
    const count = await database.run("select count(*) from cut");
    expect(count.ok && count.value.rows).toEqual([["0"]]);
  });

  it("gives up a statement that runs for too long, and keeps the connection", async () => {
    await using hasty = opened(url, 50);
    expect(await hasty.run("select pg_sleep(60)")).toEqual(err({ kind: "refused", code: "57014" }));
    expect((await hasty.run("select 1")).ok).toBe(true);
    expect(await hasty.script("select pg_sleep(0.2)")).toEqual(ok(undefined));
  });

  it("answers the code of a server that is not there", async () => {
    const nobody = new URL(url);
    nobody.port = "1";
    await using other = opened(nobody);
    expect(await other.run("select 1")).toEqual(err({ kind: "unreachable", code: "ECONNREFUSED" }));
  });

  it("answers the SQLSTATE of a database that is not there", async () => {
    const wrong = new URL(url);
    wrong.pathname = "/no_such_database";
    await using other = opened(wrong);
    expect(await other.run("select 1")).toEqual(err({ kind: "unreachable", code: "3D000" }));
  });
});

function opened(url: URL, statementMs = 30_000): Database {
  return openPostgres({ url: new Secret(url.href), connectionsMax: 4, host, statementMs });
}
