/** What a client asked for its next transaction alone is said on the connection that runs it, and stays on none. */
import type { Backend, Lane } from "@gateway/core/port/backend.ts";
import { Home } from "@gateway/core/query/home.ts";
import type { NextTransaction } from "@gateway/core/query/mysqlCall.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { errorOf, ScriptedMysql, type Answer, type Seen } from "./rig/scripted.ts";

const serializable = { isolation: "serializable", readOnly: true } as const;

it("is said before the BEGIN, and its chain is the server's own on the same connection", async () => {
  await using server = await ScriptedMysql.start();
  await using backend = await backendOf(server.port);
  await using lane = valueOf(await backend.begin(queryOf("begin", serializable), never));
  await done(lane, queryOf("select 's' as inside"));
  valueOf(await lane.commit(never, queryOf("commit and chain").session));
  const again = await lane.again?.(queryOf("begin", serializable), never);
  if (again === undefined) throw new Error("the lane has no chain");
  await using next = valueOf(again);
  await done(next, queryOf("select 's' as chained"));
  valueOf(await next.rollback(never));
  expect(textsOf(server.seen)).toEqual([
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY",
    "BEGIN",
    "select 's' as inside",
    "COMMIT AND CHAIN",
    "select 's' as chained",
    "ROLLBACK",
  ]);
  expect(new Set(server.seen.map(({ connection }) => connection)).size).toBe(1);
});

it("is said before a statement that is the transaction, whose connection is cleaned behind it", async () => {
  await using server = await ScriptedMysql.start();
  await using backend = await backendOf(server.port);
  await done(backend, queryOf("select 's' from t", { isolation: undefined, readOnly: false }));
  await done(backend, queryOf("select 's' as other"));
  const seen = server.seen.map(({ code, text }) =>
    code === commandCode.resetConnection ? "cleaned" : text,
  );
  expect(seen.filter((text) => /cleaned|TRANSACTION|'s'/.test(text))).toEqual([
    "SET TRANSACTION READ WRITE",
    "select 's' from t",
    "cleaned",
    "select 's' as other",
  ]);
});

it("fails its statement where the server does not take it, which is never run without it", async () => {
  const script = ({ text }: Seen): Answer =>
    text.startsWith("SET TRANSACTION") ? [errorOf(1568, "25001")] : undefined;
  await using server = await ScriptedMysql.start(script);
  await using backend = await backendOf(server.port);
  const begun = await backend.begin(queryOf("begin", serializable), never);
  expect(begun.ok).toBe(false);
  const kinds: string[] = [];
  const once = queryOf("select 's' from t", serializable);
  for await (const { kind } of backend.execute(once, never)) kinds.push(kind);
  expect(kinds).toEqual(["failed"]);
  expect(textsOf(server.seen).filter((text) => /BEGIN|'s'/.test(text))).toEqual([]);
});

it("rolls the chain's transaction back when its client leaves", async () => {
  await using server = await ScriptedMysql.start();
  await using backend = await backendOf(server.port);
  const lane = valueOf(await backend.begin(queryOf("begin"), never));
  valueOf(await lane.rollback(never, queryOf("rollback and chain").session));
  await lane[Symbol.asyncDispose]();
  expect(textsOf(server.seen)).toEqual(["BEGIN", "ROLLBACK AND CHAIN", "ROLLBACK"]);
});

it("is apart from what a statement has for itself, which stands in front of its text behind the tag", async () => {
  await using server = await ScriptedMysql.start();
  await using backend = await backendOf(server.port);
  const under = (sql: string): Identified => {
    const query = queryOf(sql);
    if (query.mysql === undefined) throw new Error("no call of a client of MySQL");
    return { ...query, mysql: { ...query.mysql, settings: "a = 1, b = 'x'" } };
  };
  await done(backend, under("select 's' from t"));
  valueOf(await backend.describe(under("select 's' as described"), never));
  await done(backend, queryOf("select 's' as other"));
  expect(textsOf(server.seen)).toEqual([
    "SET STATEMENT a = 1, b = 'x' FOR select 's' from t",
    "SET STATEMENT a = 1, b = 'x' FOR select 's' as described",
    "select 's' as other",
  ]);
});

function queryOf(sql: string, next?: NextTransaction): Identified {
  const own = { frontend: "mysqlWire", dialect: "mysql", settings: new Map() } as const;
  const mysql = { home: new Home(), foundRows: false, ignoreSpace: false, next };
  return { ...identifiedOf(sql, [], own), mysql, takes: ["mysqlRows"] };
}

async function done(on: Lane, query: Identified): Promise<void> {
  const kinds: string[] = [];
  for await (const { kind } of on.execute(query, never)) kinds.push(kind);
  expect(kinds.at(-1)).toBe("done");
}

/** Of transactions and of these tests' own statements. */
function textsOf(seen: readonly Seen[]): readonly string[] {
  return seen
    .map(({ text }) => text)
    .filter((text) => /TRANSACTION|BEGIN|COMMIT|ROLLBACK|'s'/.test(text));
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
