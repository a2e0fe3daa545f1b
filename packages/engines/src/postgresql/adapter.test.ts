/** The engine contract on a server of PostgreSQL's wire (the gateway's own, over DuckDB), and what such a server may do wrong. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../../../../test/e2e/gateway.ts";
import { engineSuite } from "../engine.suite.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { postgresqlConfig, type PostgresqlConfig } from "./config.ts";
import { message, ScriptedPostgres, type Script } from "./rig/scripted.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await gatewayOf(configOf());
});
afterAll(() => gateway[Symbol.asyncDispose]());

engineSuite(
  "PostgreSQL",
  {
    endless:
      "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1",
    flood: "select i, 'row ' || i as label from range(1000000000000) t(i)",
    createTable: "create table suite_t (id integer, label varchar)",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values: [
      { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \t\n" },
      { type: { kind: "text" }, value: null },
      { type: { kind: "boolean" }, value: true },
      { type: { kind: "integer", bits: 32, signed: true }, value: -5n },
      { type: { kind: "float", bits: 64 }, value: 1e300 },
      { type: { kind: "date" }, value: -719_162n },
      { type: { kind: "timestamp", unit: "us", zoned: false }, value: -1n },
      { type: { kind: "interval" }, value: { months: -14, days: 3, nanoseconds: 4_000n } },
      { type: { kind: "uuid" }, value: "00112233-4455-6677-8899-aabbccddeeff" },
    ],
    broken: { sql: "select 'x' selec frm t", position: 18 },
  },
  () => backendOf(portOf(gateway, "postgresWire"), { poolSize: 1, database: "memory" }),
  {
    skip: [
      {
        test: "names tables with their columns",
        reason: "the listing asks PostgreSQL's own catalog; test/real has one",
      },
    ],
  },
);

const row = message("D", [0, 1, 0, 0, 0, 1, 0x31]);
/** One, of the name `n`: a text. */
const columns = message("T", [
  ...Buffer.from("00016e0000000000000000000019ffffffffffff0000", "hex"),
]);
const began = [message("1"), message("t", [0, 0]), columns];
const done = message("C", [...Buffer.from("SELECT 1\0")]);
const ready = message("Z", [0x49]);

/** What the server sends once it was asked for rows, and how that ends. */
const lies: readonly (readonly [string, readonly Uint8Array[]])[] = [
  ["breaks off", []],
  ["sends a row with a cell too few", [message("2"), message("D", [0, 0]), done, ready]],
  ["sends a cell longer than its row", [message("2"), message("D", [0, 1, 0, 0, 0, 9, 1])]],
  ["sends a message of two gigabytes", [message("2"), Buffer.from("447fffffff", "hex")]],
  ["sends a length below any message", [message("2"), Buffer.from("4400000003", "hex")]],
  ["answers in another protocol", [Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")]],
  ["skips a message", [row, done, ready]],
  ["describes a second result", [message("2"), row, columns, row, done, ready]],
  ["is ready before it is done", [message("2"), row, ready]],
  ["answers once more", [message("2"), row, done, done, ready]],
  ["asks for a copy", [message("2"), message("G", [0, 0, 0])]],
  ["wants a password in the middle", [message("2"), message("R", [0, 0, 0, 3])]],
  ["ends its columns in another encoding", [message("2"), message("C", [0xff, 0]), ready]],
  ["is in a state that is none", [message("2"), row, done, message("Z", [0x58])]],
];

describe("a server that misbehaves", () => {
  it.each(lies)(
    "and %s ends the statement with an error, and its connection",
    async (_how, lie) => {
      await using server = await ScriptedPostgres.start((seen) => lyingOnce(seen, lie));
      await using backend = await backendOf(server.port, { poolSize: 1 });
      const answer = await ran(backend, "select 'lie'");
      expect(codeOf(answer)).toBe("engine.broken");
      expect(answer.kinds.filter((kind) => kind === "done")).toEqual([]);
      expect((await ran(backend, "select 'truth'")).last?.kind).toBe("done");
      expect(server.logins).toBe(2);
    },
  );

  it.each([
    ["client_encoding", "MULE_INTERNAL"],
    ["standard_conforming_strings", "off"],
  ])(
    "and reads texts by another %s from now on is left, and its client told",
    async (name, value) => {
      const told = message("S", [...Buffer.from(`${name}\0${value}\0`)]);
      const lie = [message("2"), row, done, told, ready];
      await using server = await ScriptedPostgres.start((seen) => lyingOnce(seen, lie));
      await using backend = await backendOf(server.port, { poolSize: 1 });
      expect(codeOf(await ran(backend, "select 'lie'"))).toBe("query.unsupported");
      expect((await ran(backend, "select 'truth'")).last?.kind).toBe("done");
      expect(server.logins).toBe(2);
    },
  );

  it("and speaks without being asked is left before the next statement", async () => {
    await using server = await ScriptedPostgres.start((seen) =>
      seen.letter === "E" ? [message("2"), row, done, ready, row] : truth(seen),
    );
    await using backend = await backendOf(server.port, { poolSize: 1 });
    expect((await ran(backend, "select 'one'")).last?.kind).toBe("done");
    await server.sent();
    expect((await ran(backend, "select 'two'")).rows).toEqual([["1"]]);
    expect(server.logins).toBe(2);
  });

  it("and restarts in a transaction leaves nothing that looks committed", async () => {
    await using server = await ScriptedPostgres.start((seen) =>
      seen.text.includes("COMMIT") ? "close" : truth(seen),
    );
    await using backend = await backendOf(server.port, { poolSize: 1 });
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    expect((await ran(lane, "select 'in'")).rows).toEqual([["1"]]);
    expect(await lane.commit(never)).toMatchObject({ ok: false, error: { code: "engine.broken" } });
    await lane[Symbol.asyncDispose]();
    expect((await ran(backend, "select 'after'")).last?.kind).toBe("done");
  });

  it("and commits although that was cancelled is believed", async () => {
    const controller = new AbortController();
    await using server = await ScriptedPostgres.start((seen) => {
      if (seen.text.includes("COMMIT")) controller.abort();
      return truth(seen);
    });
    await using backend = await backendOf(server.port, { poolSize: 1 });
    await using lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    expect(await lane.commit(controller.signal)).toMatchObject({ ok: true });
  });

  it("and is not there is not reached", async () => {
    await using nobody = await backendOf(1);
    expect(codeOf(await ran(nobody, "select 1"))).toBe("cluster.connectFailed");
    expect(await nobody.probe(never)).toBe("unhealthy");
  });
});

describe("a constraint that is checked when the transaction ends", () => {
  it("fails its statement with the server's own code, and the connection goes on", async () => {
    const refusal = message("E", [...Buffer.from("SERROR\0C23505\0Mtwice\0\0")]);
    await using server = await ScriptedPostgres.start((seen) =>
      seen.letter === "S" && seen.text.includes("'late'") ? [refusal, ready] : truth(seen),
    );
    await using backend = await backendOf(server.port, { poolSize: 1 });
    const answer = await ran(backend, "select 'late'");
    expect(answer.last).toMatchObject({ kind: "failed", error: { sqlState: "23505" } });
    expect((await ran(backend, "select 'next'")).rows).toEqual([["1"]]);
    expect(server.logins).toBe(1);
  });
});

describe("a description of what will stay with its session", () => {
  const call = { types: [], formats: [], values: [], resultFormats: [], simple: false };
  const described: Script = ({ letter }) =>
    letter === "S" ? [message("1"), message("t", [0, 0]), message("n"), ready] : [];

  it.each(["listen news", "create temp table t (a int)", "prepare p as select 1"])(
    "is the server's, on whatever connection: %s",
    async (sql) => {
      await using server = await ScriptedPostgres.start(described);
      await using backend = await backendOf(server.port);
      const answer = await backend.describe({ ...identifiedOf(sql), call }, never);
      expect(valueOf(answer).columns).toEqual([]);
    },
  );

  it("leaves the connection to the settings of whoever comes next", async () => {
    const asked: string[] = [];
    const script: Script = (seen) => {
      if (seen.letter !== "Q") return described(seen);
      asked.push(seen.text);
      return [message("C", [...Buffer.from("SELECT\0")]), ready];
    };
    await using server = await ScriptedPostgres.start(script);
    await using backend = await backendOf(server.port, { poolMode: "session", poolSize: 1 });
    for (const schema of ["first", "second"]) {
      const query = identifiedOf("select 1");
      const session = { ...query.session, schema };
      valueOf(await backend.describe({ ...query, session, call }, never));
    }
    expect(asked).toEqual([expect.stringContaining("first"), expect.stringContaining("second")]);
  });

  it("is refused where nothing stays", async () => {
    await using server = await ScriptedPostgres.start(described);
    await using backend = await backendOf(server.port, { pinning: "refuse" });
    const answer = await backend.describe({ ...identifiedOf("listen news"), call }, never);
    expect(answer).toMatchObject({ ok: false, error: { code: "query.unsupported" } });
  });
});

/** Tells the truth but for the rows of the first statement, which is asked for a lie. */
function lyingOnce(seen: Parameters<Script>[0], lie: readonly Uint8Array[]): ReturnType<Script> {
  if (seen.letter !== "E" || !seen.text.includes("'lie'")) return truth(seen);
  return lie.length === 0 ? "close" : lie;
}

/** A row of one text for every statement. `seen.text` holds what the series parsed. */
function truth({ letter, text }: Parameters<Script>[0]): ReturnType<Script> {
  switch (letter) {
    case "H":
      return began;
    case "E":
      return [message("2"), row, done];
    case "S":
      return [ready];
    case "Q": {
      const word = text.split(/[ ;]/, 1)[0] ?? "";
      const status = word === "BEGIN" ? 0x54 : 0x49;
      return [message("C", [...Buffer.from(`${word}\0`)]), message("Z", [status])];
    }
    default:
      return [];
  }
}

async function backendOf(port: number, more: Partial<PostgresqlConfig> = {}): Promise<Backend> {
  const config = postgresqlConfig.parse({
    engine: "postgresql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "ann", password: "none" },
    ...more,
  });
  return valueOf(await open("c", config, hostOf()));
}
