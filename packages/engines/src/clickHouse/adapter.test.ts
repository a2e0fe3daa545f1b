/** The engine contract on a server that speaks ClickHouse's HTTP interface, and what such a server may do wrong. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { statementTag } from "@gateway/core/query/tag.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import {
  fakeClickHouse,
  type FakeClickHouse,
  type Misbehaviour,
} from "../../../../test/fake/clickHouse.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { engineSuite } from "../engine.suite.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { clickHouseConfig, type ClickHouseConfig } from "./config.ts";

const uuid = "00112233-4455-6677-8899-aabbccddeeff";

const values: readonly Parameter[] = [
  { type: { kind: "boolean" }, value: true },
  { type: { kind: "integer", bits: 8, signed: true }, value: -128n },
  { type: { kind: "integer", bits: 16, signed: false }, value: 65_535n },
  { type: { kind: "integer", bits: 64, signed: true }, value: -9_223_372_036_854_775_808n },
  { type: { kind: "integer", bits: 64, signed: false }, value: 18_446_744_073_709_551_615n },
  { type: { kind: "integer", bits: 128, signed: true }, value: -(2n ** 127n) + 1n },
  { type: { kind: "integer", bits: 128, signed: false }, value: 2n ** 128n - 1n },
  { type: { kind: "float", bits: 64 }, value: 0.1 },
  { type: { kind: "float", bits: 32 }, value: -1.5 },
  {
    type: { kind: "decimal", precision: 38, scale: 10 },
    value: 12345678901234567890123456789012345678n,
  },
  { type: { kind: "decimal", precision: 4, scale: 1 }, value: -15n },
  { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \\ \t\n" },
  { type: { kind: "text" }, value: null },
  { type: { kind: "date" }, value: -719_162n },
  { type: { kind: "timestamp", unit: "us", zoned: true }, value: 1_577_836_800_000_001n },
  { type: { kind: "uuid" }, value: uuid },
];

let suite: FakeClickHouse;
beforeAll(async () => {
  suite = await fakeClickHouse();
});
afterAll(() => suite[Symbol.asyncDispose]());

const noTransactions = "ClickHouse has none over HTTP";
engineSuite(
  "ClickHouse",
  {
    endless:
      "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1",
    flood: "select i, 'row ' || i as label from range(1000000000000) t(i)",
    createTable: "create table suite_t (id integer, label varchar)",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values,
    broken: { sql: "select '\u00e9\u{1f600}' selec from", position: 17 },
  },
  () => backendOf(suite, { connectionsMax: 1 }),
  {
    skip: [
      ...[
        "keeps its changes when it is committed",
        "takes its changes back when it is rolled back",
        "takes its changes back when its session leaves",
        "is over when its session leaves in the middle of a statement",
        "sees its own tables when it describes",
      ].map((test) => ({ test, reason: noTransactions })),
      {
        test: "names the columns and parameters of a query",
        reason: "ClickHouse has no way to ask for the types of parameters",
      },
    ],
  },
);

describe("a ClickHouse backend", () => {
  let server: FakeClickHouse;
  let backend: Backend;
  beforeAll(async () => {
    server = await fakeClickHouse();
    backend = await backendOf(server);
  });
  afterAll(async () => {
    await backend[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it("sends every statement under its tag", async () => {
    await ran(backend, "select 1");
    expect(server.seen.at(-1)?.queryId).toBe(statementTag(identifiedOf("select 1")));
  });

  it("lists what it runs, and says that the list is complete", async () => {
    const query = identifiedOf("select i from range(1000000000000) t(i)");
    const stream = backend.execute(query, never);
    await stream.next();
    await stream.next();
    expect(await backend.running(never)).toEqual({
      ok: true,
      value: { tags: [statementTag(query)], complete: true, delayMs: 1_000 },
    });
    await stream.return();
    expect(server.running.size).toBe(0);
    expect(valueOf(await backend.running(never)).tags).toEqual([]);
  });

  it("ends what runs under a tag, and nothing else", async () => {
    const query = identifiedOf("select i from range(1000000000000) t(i)");
    const stream = backend.execute(query, never);
    await stream.next();
    valueOf(await backend.end(`${statementTag(query)}0`, never));
    expect(server.running.size).toBe(1);
    valueOf(await backend.end(statementTag(query), never));
    expect(server.running.size).toBe(0);
    await stream.return();
  });

  it("ends a cancelled statement in the server before it answers", async () => {
    const controller = new AbortController();
    const stream = backend.execute(
      identifiedOf("select i from range(1000000000000) t(i)"),
      controller.signal,
    );
    await stream.next();
    controller.abort();
    const codes: string[] = [];
    for await (const event of stream) if (event.kind === "failed") codes.push(event.error.code);
    expect(codes).toEqual(["query.cancelled"]);
    expect(server.running.size).toBe(0);
  });

  it.each([
    "execute as alice select 1",
    "EXECUTE AS `alice` SELECT 1",
    "/* harmless */ execute /**/ as alice select 1",
    "kill query where 1",
  ])("does not let a client change the user or end what others run: %s", async (sql) => {
    const before = server.seen.length;
    expect(codeOf(await ran(backend, sql))).toBe("query.permission");
    expect(server.seen.length).toBe(before);
  });

  it("goes to a database that is there and to no other", async () => {
    const told = await ran(backend, "use main");
    expect(told.kinds).toEqual(["session", "done"]);
    expect(codeOf(await ran(backend, "use nowhere"))).toBe("query.unknownObject");
  });

  it("says that the cluster can not be reached when the account is refused", async () => {
    await using wrong = await backendOf(server, {
      auth: { type: "basic", username: "gateway", password: "wrong" },
    });
    expect(await wrong.probe(never)).toBe("unhealthy");
    const answer = await ran(wrong, "select 1");
    expect(codeOf(answer)).toBe("cluster.connectFailed");
    expect(JSON.stringify(answer.last)).not.toContain("gateway");
  });

  it("says that the cluster can not be reached when nobody listens", async () => {
    await using nobody = await backendOf({ endpoint: "http://127.0.0.1:1" });
    expect(codeOf(await ran(nobody, "select 1"))).toBe("cluster.connectFailed");
    expect(await nobody.probe(never)).toBe("unhealthy");
  });
});

describe("a ClickHouse server that misbehaves", () => {
  let server: FakeClickHouse;
  let backend: Backend;
  beforeAll(async () => {
    server = await fakeClickHouse();
    backend = await backendOf(server);
  });
  afterAll(async () => {
    await backend[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const expected: readonly (readonly [Misbehaviour, string])[] = [
    ["cut", "engine.broken"],
    ["exceptionInMiddle", "query.data"],
    ["garbage", "engine.broken"],
    ["lyingRows", "engine.broken"],
    ["otherQuery", "engine.broken"],
    ["redirect", "engine.broken"],
    ["badGateway", "cluster.connectFailed"],
  ];
  it.each(expected)(
    "%s ends with %s, once, and the next statement is answered",
    async (how, code) => {
      const before = server.seen.length;
      server.misbehave(how);
      const answer = await ran(backend, "select n from anywhere");
      server.misbehave(undefined);
      expect(codeOf(answer)).toBe(code);
      expect(server.seen.length).toBe(before + 1);
      expect((await ran(backend, "select 1")).last?.kind).toBe("done");
    },
  );

  it("stall ends when its client cancels", async () => {
    server.misbehave("stall");
    const controller = new AbortController();
    const running = ran(backend, "select 1", { signal: controller.signal });
    controller.abort();
    expect(codeOf(await running)).toBe("query.cancelled");
    server.misbehave(undefined);
  });
});

async function backendOf(
  { endpoint }: Pick<FakeClickHouse, "endpoint">,
  more: Partial<ClickHouseConfig> = {},
): Promise<Backend> {
  const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
  const config = clickHouseConfig.parse({ engine: "clickHouse", endpoint, auth, ...more });
  return valueOf(await open("c", config, hostOf()));
}
