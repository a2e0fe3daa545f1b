/** What a Trino sees of a statement's session, and what comes back: headers both ways, tags, rows in Trino's own form. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino } from "../../../../../test/fake/trino.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { trinoConfig } from "../config.ts";

let fake: FakeTrino;
beforeEach(async () => {
  fake = await fakeTrino();
});
afterEach(() => fake[Symbol.asyncDispose]());

const trinoClient = (headers: Record<string, string>): Partial<Session> => ({
  frontend: "trinoHttp",
  headers: new Map(Object.entries(headers)),
});

describe("a statement's headers", () => {
  it("name the service account, whoever the client is and whatever it sent", async () => {
    await using backend = await backendOf({
      auth: { type: "basic", username: "svc", password: "p\u00e4ss" },
    });
    const session = trinoClient({
      "x-trino-user": "admin",
      "x-trino-original-user": "admin",
      "x-trino-extra-credential": "a=b",
      "x-trino-transaction-id": "tx-1",
      "x-trino-client-capabilities": "SESSION_AUTHORIZATION,PARAMETRIC_DATETIME",
      authorization: "Bearer stolen",
      cookie: "session=other",
    });
    await ran(backend, "select 1", { session });
    for (const { headers } of fake.seen) {
      expect(headers["x-trino-user"]).toBe("svc");
      // A real Trino 476 refuses the same pair in UTF-8: it reads Latin-1.
      const pair = Buffer.from("svc:p\u00e4ss", "latin1").toString("base64");
      expect(headers.authorization).toBe(`Basic ${pair}`);
      expect(headers["x-trino-original-user"]).toBeUndefined();
      expect(headers["x-trino-extra-credential"]).toBeUndefined();
      expect(headers["x-trino-transaction-id"]).toBeUndefined();
      expect(headers["x-trino-client-capabilities"]).not.toContain("AUTHORIZATION");
      expect(headers.cookie).toBeUndefined();
    }
  });

  it("leave the user to a token", async () => {
    await using backend = await backendOf({ auth: { type: "bearer", token: "jwt" } });
    await ran(backend, "select 1");
    expect(fake.seen[0]?.headers.authorization).toBe("Bearer jwt");
    expect(fake.seen[0]?.headers["x-trino-user"]).toBeUndefined();
  });

  it("carry our tag last, without tags that begin like it", async () => {
    await using backend = await backendOf();
    const tags = new Map([
      ["team", "etl"],
      ["gateway/x/y/z", ""],
      ["a", "gateway/x/y/z"],
      ["b,gateway", "c"],
    ]);
    await ran(backend, "select 1", { session: { tags } });
    expect(fake.seen[0]?.headers["x-trino-client-tags"]).toBe(
      "team:etl,a:gateway/x/y/z,gateway/suite/0/suite",
    );
  });

  it("are those of each statement, also where its client sends the same ones again", async () => {
    await using backend = await backendOf({ catalog: "own" });
    const again = trinoClient({ "x-trino-source": "bi" });
    const sent = async (session: Partial<Session>, id: string, more: Partial<Identified> = {}) => {
      const query = {
        ...identifiedOf("select 1", [], session),
        id: id as Identified["id"],
        ...more,
      };
      await eventsOf(backend, query);
      const { headers } = posts().at(-1) ?? {};
      const [tags, catalog] = [headers?.["x-trino-client-tags"], headers?.["x-trino-catalog"]];
      return [tags, catalog, headers?.["x-trino-source"], headers?.["x-trino-session"]];
    };
    expect(await sent(again, "a")).toEqual(["gateway/suite/0/a", "own", "bi", undefined]);
    expect(await sent(again, "b")).toEqual(["gateway/suite/0/b", "own", "bi", undefined]);
    const elsewhere = { ...again, catalog: "other" };
    expect(await sent(elsewhere, "c")).toEqual(["gateway/suite/0/c", "other", "bi", undefined]);
    const settings = { ...again, settings: new Map([["x", "1"]]) };
    expect(await sent(settings, "d")).toEqual(["gateway/suite/0/d", "own", "bi", "x=1"]);
    const limited = { maxExecutionMs: 5 };
    expect((await sent(again, "e", limited))[3]).toBe("query_max_run_time=5ms");
    const takes = { takes: ["trinoData"] as const };
    await sent(again, "f", takes);
    expect(posts().at(-1)?.headers["x-trino-client-capabilities"]).toBe("");
    expect(await sent({ ...again, tags: new Map([["t", ""]]) }, "g")).toContain(
      "t,gateway/suite/0/g",
    );
  });

  it("name the client's user for attribution, in letters that a header can carry", async () => {
    await using backend = await backendOf();
    const identity = { user: "J\u00f6rg\r\nx", groups: [], roles: [], method: "none" } as const;
    await ran(backend, "select 1", { session: { identity } });
    expect(fake.seen[0]?.headers["x-trino-client-info"]).toBe("J%C3%B6rg%0D%0Ax");
    expect(fake.seen[0]?.headers["x-trino-source"]).toBe("gateway/suite");
  });

  it("carry where the session stands, and where the cluster stands without it", async () => {
    await using backend = await backendOf({ catalog: "hive", schema: "web" });
    await ran(backend, "select 1");
    await ran(backend, "select 1", { session: { schema: "logs" } });
    await ran(backend, "select 1", { session: { catalog: "memory" } });
    await ran(backend, "select 1", { session: { catalog: "hive" } });
    const stands = posts().map(({ headers }) => [
      headers["x-trino-catalog"],
      headers["x-trino-schema"],
    ]);
    expect(stands).toEqual([
      ["hive", "web"],
      ["hive", "logs"],
      ["memory", undefined],
      ["hive", "web"],
    ]);
  });

  it("carry the limit of the group, which a session may lower and not raise", async () => {
    await using backend = await backendOf();
    expect(backend.limitsExecution).toBe(true);
    const sent = async (settings: Record<string, string>, frontend = "trinoHttp") => {
      const session = { ...trinoClient({}), frontend, settings: new Map(Object.entries(settings)) };
      await ran(backend, "select 1", { session, maxExecutionMs: 60_000 });
      return posts().at(-1)?.headers["x-trino-session"];
    };
    const ours = "query_max_run_time=60000ms";
    expect(await sent({})).toBe(ours);
    expect(await sent({}, "postgresWire")).toBe(ours);
    expect(await sent({ query_max_run_time: "1h" }, "postgresWire")).toBe(ours);
    for (const raised of ["61s", "1h", "60001ms", "1.1m", "1e9s", "", "0.5w", "-1s", "1 S"]) {
      expect(await sent({ query_max_run_time: raised })).toBe(ours);
    }
    expect(await sent({ query_max_run_time: "60s" })).toBe("query_max_run_time=60s");
    expect(await sent({ query_max_run_time: "0.5m", x: "1" })).toBe("query_max_run_time=0.5m,x=1");
  });

  it.each([
    "with session query_max_run_time = '9h' select 1",
    "WITH/**/SESSION a = 1, \"Query_Max_Run_Time\" = '9h' select 1",
    "explain analyze with session query_max_run_time = '9h' select 1",
    "execute immediate 'with session query_max_run_time = ''9h'' select 1'",
    "execute immediate U&'with session \\0071uery_max_run_time = ''9h'' select 1'",
  ])("refuse %s where a limit is to be sent, and only there", async (sql) => {
    await using backend = await backendOf();
    expect(codeOf(await ran(backend, sql, { maxExecutionMs: 60_000 }))).toBe("query.unsupported");
    expect(fake.seen).toEqual([]);
    await ran(backend, sql);
    expect(posts()).toHaveLength(1);
  });

  it("refuse a prepared text that may raise the limit, however it is written", async () => {
    await using backend = await backendOf();
    const text = "with session query_max_run_time = '9h' select 1";
    const hidden = Buffer.from(text).toString("hex").replaceAll(/../g, "%$&");
    const session = trinoClient({ "x-trino-prepared-statement": `p=${hidden}` });
    const limited = await ran(backend, "execute p", { session, maxExecutionMs: 60_000 });
    expect(codeOf(limited)).toBe("query.unsupported");
  });

  it("carry a Trino client's session, and of other clients the time zone only", async () => {
    await using backend = await backendOf();
    const settings = new Map([
      ["timezone", "Europe/Berlin"],
      ["query_max_run_time", "5m"],
      ["hive.x", "a=b, c"],
    ]);
    const sent = {
      "x-trino-time-zone": "Europe/Berlin",
      "x-trino-path": "memory.f",
      "x-trino-trace-token": "t",
      "x-trino-source": "cli",
      "x-trino-prepared-statement": "p=select+1",
    };
    // A role would be one of the service account.
    const client = trinoClient({ ...sent, "x-trino-role": "hive=ROLE{r}" });
    await ran(backend, "select 1", { session: { ...client, settings } });
    await ran(backend, "select 1", { session: { settings } });
    expect(posts()[0]?.headers["x-trino-role"]).toBeUndefined();
    expect(posts()[0]?.headers).toMatchObject({
      ...sent,
      "x-trino-session": "query_max_run_time=5m,hive.x=a%3Db%2C+c",
    });
    expect(posts()[1]?.headers["x-trino-time-zone"]).toBe("Europe/Berlin");
    expect(posts()[1]?.headers["x-trino-session"]).toBeUndefined();
  });

  it("carry the cookies of their own query and of no other", async () => {
    await using backend = await backendOf();
    fake.extraHeaders = { "set-cookie": ["route=a; Path=/", "other=b"] };
    await ran(backend, "select 1");
    await ran(backend, "select 1");
    const cookies = fake.seen.map(({ method, headers }) => [method, headers.cookie]);
    expect(cookies).toEqual([
      ["POST", undefined],
      ["GET", "route=a; other=b"],
      ["GET", "route=a; other=b"],
      ["POST", undefined],
      ["GET", "route=a; other=b"],
      ["GET", "route=a; other=b"],
    ]);
  });
});

describe("an answer", () => {
  it("tells changes of the session once each", async () => {
    await using backend = await backendOf();
    fake.answers.set("use a.b", () => ({
      updateType: "USE",
      headers: {
        "x-trino-set-catalog": "a",
        "x-trino-set-schema": "b",
        "x-trino-set-session": "x=1%2C2",
        "x-trino-clear-session": "y",
      },
    }));
    const events = await eventsOf(backend, identifiedOf("use a.b"));
    expect(events).toMatchObject([
      { kind: "session", change: { kind: "catalog", catalog: "a", schema: "b" } },
      { kind: "session", change: { kind: "setting", name: "x", value: "1,2" } },
      { kind: "session", change: { kind: "setting", name: "y", value: undefined } },
      { kind: "done", updateType: "USE" },
    ]);
  });

  it("is read when it is compressed", async () => {
    await using backend = await backendOf({ compression: true });
    fake.gzip = true;
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
    expect(fake.seen[0]?.headers["accept-encoding"]).toBe("gzip");
  });

  it("ends with what the engine counted where it was told while it ran", async () => {
    const host = hostOf();
    let nowMs = 0;
    // Progress is due at every look.
    const clock = { ...host.clock, nowMs: () => (nowMs += 600) };
    const config = trinoConfig.parse({ engine: "trino", endpoint: fake.origin });
    await using slow = valueOf(await open("session", config, { ...host, clock }));
    const work = { splitsDone: 2, cpuMs: 7, rowsRead: 11, percent: 66.6 };
    expect((await ran(slow, "select 1")).last).toMatchObject({ stats: { rows: 1, work } });
    await using backend = await backendOf();
    const { last } = await ran(backend, "select 1");
    expect(last).toMatchObject({ kind: "done", stats: { rows: 1 } });
    expect(last?.kind === "done" && last.stats.work).toBeUndefined();
  });

  it("is passed on untouched to a client that takes Trino's rows", async () => {
    await using backend = await backendOf();
    const page = '[[1,"\\u0041"],[2,"],["]]';
    const columns = [
      ["i", "bigint"],
      ["label", "varchar"],
    ] as const;
    fake.answers.set("select native", () => ({ columns, pages: [page][Symbol.iterator]() }));
    const query = { ...identifiedOf("select native"), takes: ["trinoData"] as const };
    const [described, rows] = await eventsOf(backend, query);
    if (described?.kind !== "columns" || rows?.kind !== "batch") throw new Error("other events");
    const json = Buffer.from(described.native?.bytes ?? []).toString();
    expect(JSON.parse(json)).toMatchObject([{ name: "i" }, { name: "label" }]);
    expect(rows.batch).toMatchObject({ form: "native", format: "trinoData", rows: 2 });
    expect(rows.batch.form === "native" && Buffer.from(rows.batch.bytes).toString()).toBe(page);
  });

  it("of spooled rows is fetched, acknowledged, and never fetched elsewhere", async () => {
    await using backend = await backendOf({ spooling: true });
    const inline = Buffer.from("[[1]]").toString("base64");
    const segments = (uri: string): string =>
      JSON.stringify({
        encoding: "json",
        segments: [
          { type: "inline", data: inline, metadata: {} },
          { type: "spooled", uri, ackUri: `${fake.origin}/ack`, metadata: {} },
        ],
      });
    const answer = (uri: string) => () => ({
      columns: [["i", "bigint"]] as const,
      pages: [segments(uri)][Symbol.iterator](),
    });
    fake.answers.set("select here", answer(`${fake.origin}/segment`));
    fake.answers.set("select there", answer("http://169.254.169.254/segment"));
    fake.files.set("/segment", "[[2],[3]]");
    fake.files.set("/ack", "");
    expect((await ran(backend, "select here")).rows).toEqual([[1n], [2n], [3n]]);
    expect(fake.seen.filter(({ path }) => path === "/ack")).toHaveLength(1);
    const { rows, last } = await ran(backend, "select there");
    expect(rows).toEqual([[1n]]);
    expect(last).toMatchObject({ kind: "failed", error: { code: "engine.broken" } });
    expect(posts()[0]?.headers["x-trino-query-data-encoding"]).toBe("json");
  });
});

describe("the server's list of statements", () => {
  it("is complete when the probe found its own statement in it, and names what runs by our tag", async () => {
    await using backend = await backendOf();
    expect(await backend.running(never)).toMatchObject({ value: { complete: false } });
    expect(await backend.probe(never)).toBe("healthy");
    const stream = backend.execute(identifiedOf("select * from flood"), never);
    await stream.next();
    expect(await backend.running(never)).toEqual({
      ok: true,
      value: { tags: ["gateway/suite/0/suite"], complete: true, delayMs: 1_000 },
    });
    await stream.return();
    expect(await backend.running(never)).toMatchObject({ value: { tags: [] } });
    expect(backend.catalogs).toEqual(["memory"]);
  });
});

function posts() {
  return fake.seen.filter(({ method }) => method === "POST");
}

async function eventsOf(backend: Backend, query: Identified): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of backend.execute(query, never)) {
    if (event.kind !== "progress") events.push(event);
  }
  return events;
}

async function backendOf(more: object = {}): Promise<Backend> {
  const config = trinoConfig.parse({ engine: "trino", endpoint: fake.origin, ...more });
  return valueOf(await open("session", config, hostOf()));
}
