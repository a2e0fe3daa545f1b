/** A statement's limit on the server: there before the statement, and out of the client's reach. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeMysql } from "../../../../test/fake/mysql.ts";
import { certificateOf } from "../../../frontends/src/listener/rig/certificate.ts";
import { codeOf, hostOf, ran, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { starRocksConfig } from "./config.ts";

const authority = certificateOf("authority");
const certificate = certificateOf("localhost", authority);
const folder = mkdtempSync(join(tmpdir(), "gateway-limit-"));
const caFile = join(folder, "ca.pem");
const maxExecutionMs = 60_000;

let server: FakeMysql;

beforeAll(async () => {
  writeFileSync(caFile, authority.cert);
  const passwords = new Map([["gateway", "secret"]]);
  server = await FakeMysql.start({ key: certificate.key, cert: certificate.cert }, passwords);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  server.unknownVariables = [];
  server.statements.length = 0;
});

describe("the limit of a statement", () => {
  it("stands on its connection before it, and is said once", async () => {
    await using backend = await backendOf();
    expect(backend.limitsExecution).toBe(false);
    await ran(backend, "select 'a'", { maxExecutionMs });
    await ran(backend, "select 'b'", { maxExecutionMs });
    await ran(backend, "select 'c'", { maxExecutionMs: 5_000 });
    expect(sent()).toEqual([
      "SET SESSION `query_timeout` = 60",
      "SET SESSION `insert_timeout` = 60",
      "select 'a'",
      "select 'b'",
      "SET SESSION `query_timeout` = 5",
      "SET SESSION `insert_timeout` = 5",
      "select 'c'",
    ]);
    expect(backend.limitsExecution).toBe(true);
  });

  it("is lowered and not raised by what a client sets, also where it sets it again", async () => {
    await using backend = await backendOf();
    const as = (value: string) =>
      ({
        session: { frontend: "mysqlWire", settings: new Map([["query_timeout", value]]) },
        maxExecutionMs,
      }) as const;
    await ran(backend, "select 'a'", as("10"));
    expect(
      sent()
        .filter((sql) => sql.includes("query_timeout"))
        .at(-1),
    ).toContain("= 10");
    for (const raised of ["99999", "0", "-1", "1e9", "x"]) {
      await ran(backend, "select 'a'", as(raised));
      const [before, own] = sent().slice(-3);
      expect([before, own]).toEqual([
        "SET SESSION `query_timeout` = 60",
        "SET SESSION `insert_timeout` = 60",
      ]);
      await ran(backend, `set query_timeout = 99999`, as(raised));
      await ran(backend, "select 'b'", as("99999"));
      expect(sent().slice(-3)[0]).toBe("SET SESSION `query_timeout` = 60");
    }
  });

  it.each([
    "select /*+ SET_VAR(query_timeout = 99999) */ 1",
    "insert /*+ set_var (Insert_Timeout=99999) */ into t select 1",
    "/*M! SET STATEMENT max_statement_time=0 FOR */ select 1",
  ])("is not raised by %s", async (sql) => {
    await using backend = await backendOf();
    expect(codeOf(await ran(backend, sql, { maxExecutionMs }))).toBe("query.unsupported");
    expect(sent()).toEqual([]);
    expect(codeOf(await ran(backend, sql))).toBeUndefined();
  });

  it("is left to no connection of a group without one", async () => {
    await using backend = await backendOf();
    await ran(backend, "select 'a'", { maxExecutionMs });
    const logins = server.logins.length;
    await ran(backend, "select 'b'");
    expect(server.logins.length).toBe(logins + 1);
  });

  it("is what the server knows: MariaDB's, or none", async () => {
    server.unknownVariables = ["query_timeout", "insert_timeout"];
    await using maria = await backendOf();
    await ran(maria, "select 'a'", { maxExecutionMs });
    expect(sent().slice(-2)).toEqual(["SET SESSION `max_statement_time` = 60", "select 'a'"]);
    expect(maria.limitsExecution).toBe(true);
    server.unknownVariables = ["query_timeout", "insert_timeout", "max_statement_time"];
    await using other = await backendOf();
    expect(codeOf(await ran(other, "select 'a'", { maxExecutionMs }))).toBeUndefined();
    expect(other.limitsExecution).toBe(false);
  });
});

/** What clients' connections were sent. */
function sent(): readonly string[] {
  return server.statements.map(({ sql }) => sql).filter((sql) => !sql.includes("@@sql_mode"));
}

async function backendOf(): Promise<Backend> {
  const config = starRocksConfig.parse({
    engine: "starRocks",
    endpoint: `mysql://localhost:${server.port}?require_ssl=true`,
    auth: { type: "basic", username: "gateway", password: "secret" },
    tls: { caFile },
    poolSize: 1,
  });
  return valueOf(await open("c", config, hostOf()));
}
