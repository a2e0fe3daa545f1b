/** The engine contract on a server of MySQL's wire (the gateway's own, over DuckDB), and what such a server may do wrong. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../../../../test/e2e/gateway.ts";
import { fakeRelay, type FakeRelay, type RelayFault } from "../../../../test/fake/relay.ts";
import { engineSuite } from "../engine.suite.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { starRocksConfig, type StarRocksConfig } from "./config.ts";

const packet = (sequence: number, ...payload: readonly number[]): readonly number[] => [
  payload.length,
  0,
  0,
  sequence,
  ...payload,
];
/** Of the name `a`, with its names first and its fixed fields behind them. */
const column = Buffer.from("036465660000000161000cff000a000000fd0000000000", "hex");
const endOfColumns = [0xfe, 0, 0, 2, 0];
const oneColumn = [...packet(1, 1), ...packet(2, ...column), ...packet(3, ...endOfColumns)];
const twoColumns = [
  ...packet(1, 2),
  ...packet(2, ...column),
  ...packet(3, ...column),
  ...packet(4, ...endOfColumns),
];
const instead = (...bytes: readonly number[]): RelayFault => ({
  kind: "instead",
  bytes: Uint8Array.from(bytes),
});

const faults: readonly (readonly [string, RelayFault])[] = [
  ["cuts the first packet", { kind: "cutAfter", bytes: 3 }],
  ["cuts in the middle of a result", { kind: "cutAfter", bytes: 40 }],
  ["answers in another protocol", instead(...Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"))],
  ["claims a million columns", instead(...packet(1, 0xfe, 0, 0, 0x10, 0, 0, 0, 0, 0))],
  ["sends a column that is none", instead(...packet(1, 1), ...packet(2, 1, 2, 3))],
  ["sends a cell longer than its row", instead(...oneColumn, ...packet(4, 200, 0x61))],
  ["sends a row with a cell too few", instead(...twoColumns, ...packet(5, 1, 0x61))],
  ["asks for a file of this host", instead(...packet(1, 0xfb, 0x2f, 0x65, 0x74, 0x63))],
];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await gatewayOf(configOf());
});
afterAll(() => gateway[Symbol.asyncDispose]());

engineSuite(
  "StarRocks",
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
      { type: { kind: "boolean" }, value: null },
      { type: { kind: "integer", bits: 32, signed: true }, value: -5n },
      { type: { kind: "decimal", precision: 3, scale: 2 }, value: 125n },
      { type: { kind: "float", bits: 64 }, value: 1e300 },
    ],
    broken: { sql: "select 'x' selec from", position: 1 },
  },
  () => backendOf(portOf(gateway, "mysqlWire"), { poolSize: 1 }),
  {
    skip: [
      {
        test: "says where a text is broken",
        reason: "MySQL's errors name a line and no position",
      },
      {
        test: "names the columns and parameters of a query",
        reason: "MySQL does not tell the types of parameters",
      },
    ],
  },
);

it("has ended the statement in the server when a reader has left a long result", async () => {
  const port = portOf(gateway, "mysqlWire");
  await using backend = await backendOf(port);
  await using other = await backendOf(port);
  const flood = "select i from range(1000000000000) t(i)";
  const runs = async (): Promise<boolean> => {
    const { rows } = await ran(other, "show full processlist");
    return rows.flat().some((cell) => typeof cell === "string" && cell.includes(flood));
  };
  const stream = backend.execute(identifiedOf(flood), never);
  while ((await stream.next()).value?.kind !== "batch");
  expect(await runs()).toBe(true);
  await stream.return();
  expect(await runs()).toBe(false);
});

describe("a server that misbehaves", () => {
  let relay: FakeRelay;
  let backend: Backend;
  beforeAll(async () => {
    relay = await fakeRelay(portOf(gateway, "mysqlWire"));
    backend = await backendOf(relay.port);
  });
  afterAll(async () => {
    await backend[Symbol.asyncDispose]();
    await relay[Symbol.asyncDispose]();
  });

  it.each(faults)(
    "and %s ends the query with an error, once, and the next one is answered",
    async (_how, fault) => {
      expect((await ran(backend, "select 1")).last?.kind).toBe("done");
      relay.fault(fault);
      // Ending a statement asks the server, which is itself again by then.
      const met = relay.met().then(() => relay.fault({ kind: "none" }));
      const answer = await ran(backend, "select i from range(1000) t(i)");
      await met;
      expect(["engine.broken", "query.permission"]).toContain(codeOf(answer));
      expect((await ran(backend, "select 1")).last?.kind).toBe("done");
    },
  );

  it("and never answers a login is not reached", async () => {
    relay.fault({ kind: "stall" });
    await using other = await backendOf(relay.port, { connectTimeoutSecs: 1 });
    expect(codeOf(await ran(other, "select 1"))).toBe("cluster.connectFailed");
    relay.fault({ kind: "none" });
  });

  it("and is not there is not reached", async () => {
    await using nobody = await backendOf(1);
    expect(codeOf(await ran(nobody, "select 1"))).toBe("cluster.connectFailed");
    expect(await nobody.probe(never)).toBe("unhealthy");
  });
});

async function backendOf(port: number, more: Partial<StarRocksConfig> = {}): Promise<Backend> {
  const config = starRocksConfig.parse({
    engine: "starRocks",
    endpoint: `mysql://127.0.0.1:${port}`,
    ...more,
  });
  return valueOf(await open("c", config, hostOf()));
}
