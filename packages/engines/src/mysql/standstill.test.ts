/** Sessions that keep a connection never bring those to a standstill that wait for one, whose slots they need. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Home } from "@gateway/core/query/home.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { ScriptedMysql } from "./rig/scripted.ts";

it("leaves one place of several to statements of others", async () => {
  await using server = await ScriptedMysql.start();
  await using backend = await backendOf(server.port, { poolSize: 2 });
  await using first = new Home();
  await using second = new Home();
  expect((await ended(backend, first, "set @a = 1")).kind).toBe("done");
  const refused = await ended(backend, second, "create temporary table t (a int)");
  expect(refused).toMatchObject({ kind: "failed", error: { code: "capacity.queueFull" } });
  for (const home of [second, first]) {
    expect((await ended(backend, home, "select 1")).kind).toBe("done");
  }
});

it("ends a wait for a place while sessions keep all of them, and no other wait", async () => {
  await using server = await ScriptedMysql.start();
  const virtual = virtualHost(1);
  const host = { ...hostOf(), clock: virtual.clock };
  await using backend = await backendOf(server.port, { poolSize: 1, poolMode: "session" }, host);
  const [one, two, three] = [new Home(), new Home(), new Home()];
  expect((await ended(backend, one, "select 1")).kind).toBe("done");
  const waiting = ended(backend, two, "select 2");
  await virtual.advance(4_999);
  expect((await ended(backend, one, "select 1")).kind).toBe("done");
  await virtual.advance(5_001);
  expect(await waiting).toMatchObject({ error: { code: "capacity.queueFull" } });
  const next = ended(backend, three, "select 3");
  await one[Symbol.asyncDispose]();
  expect((await next).kind).toBe("done");
  for (const home of [two, three]) await home[Symbol.asyncDispose]();
});

async function ended(backend: Backend, home: Home, sql: string): Promise<ResultEvent> {
  const query = {
    ...identifiedOf(sql, [], { frontend: "mysqlWire", dialect: "mysql" }),
    mysql: { home, foundRows: false, ignoreSpace: false },
    takes: ["mysqlRows"],
  } as const;
  let last: ResultEvent | undefined;
  for await (const event of backend.execute(query, never)) last = event;
  if (last === undefined) throw new Error("no event");
  return last;
}

async function backendOf(port: number, more: object, host: Host = hostOf()): Promise<Backend> {
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "ann", password: "none" },
    ...more,
  });
  return valueOf(await open("c", config, host));
}
