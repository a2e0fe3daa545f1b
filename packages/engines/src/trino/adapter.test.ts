/** The engine contract over a server that speaks Trino's protocol, and what is Trino's own. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { afterAll, beforeAll } from "vitest";
import { fakeTrino, type FakeTrino } from "../../../../test/fake/trino.ts";
import { engineSuite } from "../engine.suite.ts";
import { hostOf, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { trinoConfig } from "./config.ts";

const values: readonly Parameter[] = [
  { type: { kind: "boolean" }, value: true },
  { type: { kind: "integer", bits: 8, signed: true }, value: -128n },
  { type: { kind: "integer", bits: 16, signed: false }, value: 65_535n },
  { type: { kind: "integer", bits: 32, signed: true }, value: -2_147_483_648n },
  { type: { kind: "integer", bits: 64, signed: true }, value: -9_223_372_036_854_775_808n },
  { type: { kind: "integer", bits: 64, signed: false }, value: 18_446_744_073_709_551_615n },
  { type: { kind: "integer", bits: 128, signed: true }, value: -(10n ** 38n) + 1n },
  { type: { kind: "float", bits: 64 }, value: 0.1 },
  { type: { kind: "float", bits: 64 }, value: 1.5e300 },
  { type: { kind: "float", bits: 64 }, value: -1e20 },
  { type: { kind: "float", bits: 64 }, value: 5e-324 },
  { type: { kind: "float", bits: 64 }, value: Number.NaN },
  { type: { kind: "float", bits: 64 }, value: Number.NEGATIVE_INFINITY },
  { type: { kind: "float", bits: 32 }, value: -1.5 },
  {
    type: { kind: "decimal", precision: 38, scale: 10 },
    value: 12345678901234567890123456789012345678n,
  },
  { type: { kind: "decimal", precision: 4, scale: 1 }, value: -15n },
  { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \\ \n" },
  { type: { kind: "text" }, value: null },
  { type: { kind: "binary" }, value: new Uint8Array([0, 1, 255]) },
  { type: { kind: "date" }, value: -719_162n },
  { type: { kind: "date" }, value: 3_305_444n },
  { type: { kind: "time", unit: "us" }, value: 86_399_999_999n },
  { type: { kind: "time", unit: "ns" }, value: 1n },
  { type: { kind: "timestamp", unit: "us", zoned: false }, value: -1n },
  { type: { kind: "timestamp", unit: "us", zoned: true }, value: 1_577_836_800_000_001n },
  { type: { kind: "timestamp", unit: "s", zoned: false }, value: 1_577_836_800n },
  { type: { kind: "timestamp", unit: "ns", zoned: false }, value: 1_577_836_800_000_000_001n },
  { type: { kind: "interval" }, value: { months: -14, days: 0, nanoseconds: 0n } },
  { type: { kind: "interval" }, value: { months: 0, days: -3, nanoseconds: -4_000_000n } },
  { type: { kind: "uuid" }, value: "00112233-4455-6677-8899-aabbccddeeff" },
  { type: { kind: "json" }, value: '{"a":[1,null]}' },
  { type: { kind: "null" }, value: null },
  {
    type: { kind: "list", item: { kind: "integer", bits: 64, signed: true } },
    value: [9_007_199_254_740_993n, null, 3n],
  },
  {
    type: {
      kind: "struct",
      fields: [
        { name: "a", type: { kind: "text" } },
        { name: "b c", type: { kind: "boolean" } },
      ],
    },
    value: ["x", null],
  },
  {
    type: {
      kind: "map",
      key: { kind: "text" },
      value: { kind: "integer", bits: 32, signed: true },
    },
    value: [["stats", 1n]],
  },
];

let fake: FakeTrino;
beforeAll(async () => {
  fake = await fakeTrino();
});
afterAll(() => fake[Symbol.asyncDispose]());

engineSuite(
  "Trino",
  {
    endless: "select count(*) from endless",
    flood: "select * from flood",
    createTable: "create table suite_t (id integer, label varchar)",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values,
    broken: { sql: "select '\u00e9\u{1f600}' selec from", position: 14 },
  },
  () => backendOf(stillHost()),
  { skip: [] },
);

/** A host whose clock stands, so that no progress is due. */
function stillHost(): Host {
  const host = hostOf();
  const { clock } = host;
  const still = {
    nowMs: () => 0,
    unixMs: () => clock.unixMs(),
    timer: (delayMs: number, fire: () => void) => clock.timer(delayMs, fire),
  };
  return { ...host, clock: still };
}

async function backendOf(host: Host, more: object = {}): Promise<Backend> {
  const config = trinoConfig.parse({ engine: "trino", endpoint: fake.origin, ...more });
  return valueOf(await open("suite", config, host));
}
