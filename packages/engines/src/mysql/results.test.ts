/** In which character set a server answers, on connections that many sessions share. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { Home } from "@gateway/core/query/home.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { errorOf, ScriptedMysql } from "./rig/scripted.ts";

describe("the character set of results", () => {
  it("is what each client reads, whoever had the connection before", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port);
    await asked(backend, "select 'a'", "latin1");
    await asked(backend, "select 'b'", "latin1");
    await asked(backend, "select 'c'", undefined);
    await asked(backend, "select 'd'", "cp1257");
    await asked(backend, "select 'e'", "utf8mb3");
    const told = server.seen.map(({ text }) => text).filter((text) => /results|'[a-e]'/.test(text));
    expect(told).toEqual([
      "SET character_set_results = latin1",
      "select 'a'",
      "select 'b'",
      "SET character_set_results = utf8mb4",
      "select 'c'",
      "SET character_set_results = cp1257",
      "select 'd'",
      "SET character_set_results = utf8mb3",
      "select 'e'",
    ]);
  });

  it.each([
    ["what is read here", "latin1", []],
    ["a name that is none", "latin1; drop table t", ["mysqlRows"]],
  ] as const)("is utf8mb4 for %s", async (_what, results, takes) => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port);
    await asked(backend, "select 'a'", "latin1");
    await asked(backend, "select 'b'", results, { takes });
    const told = server.seen.flatMap(({ text }) => (text.includes("_results") ? [text] : []));
    expect(told).toEqual([
      "SET character_set_results = latin1",
      "SET character_set_results = utf8mb4",
    ]);
  });

  it("comes again on a connection that was cleaned, or brought under other names", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port);
    await asked(backend, "insert into t values (1)", "latin1");
    await asked(backend, "select 'a'", "latin1");
    await asked(backend, "select 'b'", "latin1", { names: "utf8mb4" });
    const told = server.seen.filter(({ text }) => text.includes("_results"));
    expect(told).toHaveLength(3);
  });

  it("is that of what is read, too, for a text that its client wrote in halves", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port);
    await asked(backend, "select 'a💩'", "utf8mb3");
    await asked(backend, "select 'b💩'", "utf8mb3");
    await asked(backend, "select 'c'", "utf8mb3");
    await asked(backend, "select 'd💩'", "utf8mb3");
    await asked(backend, "select 'e💩'", undefined, { names: "utf8mb4" });
    const told = server.seen.map(({ text }) => text).filter((text) => /_set_|'[a-e]/.test(text));
    const inHalves = (name: string) => expect.stringMatching(`^select '${name}\ufffd+'$`) as string;
    expect(told).toEqual([
      "SET character_set_results = utf8mb3, character_set_client = utf8mb3",
      inHalves("a"),
      inHalves("b"),
      "SET character_set_results = utf8mb3, character_set_client = utf8mb4",
      "select 'c'",
      "SET character_set_results = utf8mb3, character_set_client = utf8mb3",
      inHalves("d"),
      "SET character_set_results = utf8mb4, character_set_client = utf8mb4",
      "select 'e💩'",
    ]);
  });

  it("is utf8mb4, as is what is read, where a server does not know that of halves", async () => {
    const unknown = [errorOf(1115, "42000", "Unknown character set")];
    await using server = await ScriptedMysql.start(({ text }) =>
      text.startsWith("SET character_set_results") ? unknown : undefined,
    );
    await using backend = await backendOf(server.port);
    const events = await asked(backend, "select 'a💩'", "utf8mb3");
    expect(events.at(-1)?.kind).toBe("done");
    expect(server.seen.at(-1)?.text).toBe("select 'a💩'");
  });

  it("is utf8mb4 where a server does not know that of clients who read most of it", async () => {
    const unknown = [errorOf(1115, "42000", "Unknown character set")];
    await using server = await ScriptedMysql.start(({ text }) =>
      text.startsWith("SET character_set_results") ? unknown : undefined,
    );
    await using backend = await backendOf(server.port);
    const last = async (sql: string, results: string) =>
      (await asked(backend, sql, results)).at(-1)?.kind;
    expect(await last("select 'a'", "utf8mb3")).toBe("done");
    expect(await last("select 'b'", "utf8mb3")).toBe("done");
    expect(server.seen.filter(({ text }) => text.includes("_results"))).toHaveLength(1);
    expect(await last("select 'c'", "cp1257")).toBe("failed");
  });

  it("is that of errors, too", async () => {
    const message = errorOf(1146, "42S02", "Table 'X' doesn't exist").map((byte) =>
      byte === 0x58 ? 0xe4 : byte,
    );
    await using server = await ScriptedMysql.start(({ text }) =>
      text === "select a from t" ? [message] : undefined,
    );
    await using backend = await backendOf(server.port);
    expect((await asked(backend, "select a from t", "latin1")).at(-1)).toMatchObject({
      error: { message: "Table 'ä' doesn't exist" },
    });
  });
});

interface Asking {
  readonly takes?: readonly "mysqlRows"[];
  readonly names?: string;
}

async function asked(
  backend: Backend,
  sql: string,
  results: string | undefined,
  { takes = ["mysqlRows"], names }: Asking = {},
): Promise<readonly ResultEvent[]> {
  const settings = new Map(names === undefined ? [] : [["names", names]]);
  const session = { frontend: "mysqlWire", dialect: "mysql", settings } as const;
  const mysql = { home: new Home(), foundRows: false, ignoreSpace: false, results };
  const query = { ...identifiedOf(sql, [], session), mysql, takes };
  const events: ResultEvent[] = [];
  for await (const event of backend.execute(query, never)) events.push(event);
  return events;
}

async function backendOf(port: number): Promise<Backend> {
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "ann", password: "none" },
    poolSize: 1,
  });
  return valueOf(await open("c", config, hostOf()));
}
