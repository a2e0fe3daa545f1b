/** Large results of an embedded DuckDB to a client of Flight SQL: the engine's own messages where they may pass, and others anew. */
import { FlightClient } from "@gateway/frontends/flightSql/rig/client.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const rows = 60_000;
const listener = { host: "127.0.0.1", port: 0 };
let gateway: TestGateway;
let client: FlightClient;

beforeAll(async () => {
  gateway = await gatewayOf({
    gateway: {
      frontends: { flightSql: listener },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { main: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "main",
    auth: { provider: "none" },
  });
  client = await FlightClient.connect(portOf(gateway, "flightSql"), { user: "ann" });
}, 60_000);
afterAll(async () => {
  client.destroy();
  await gateway[Symbol.asyncDispose]();
});

const plain = `i, i % 7 = 0 as b, case when i % 3 > 0 then 'row ' || i end as t, [i, i + 1] as l,
  cast(i as decimal(12,2)) as d, map {'k': i, 'n': null} as m, {'a': i, 'b': null, 'c': [i % 2 = 0]} as s,
  uuid '0190163d-8694-739b-aea5-966c26f8ad91' as u, encode('b' || i) as x, to_seconds(i) as v, i / 3 as f,
  date '2020-01-01' + cast(i % 1000 as int) as day, timestamp '2020-01-01' + to_seconds(i) as at,
  time '00:00:00' + to_seconds(i % 80000) as clock, null as nothing`;
/** Every so many rows as text, for each way that they came. */
const sampleEvery = 997;
const samples: string[][] = [];

it.each([
  ["that lie as Arrow has them", plain],
  ["of which a column is laid out anew", `${plain}, cast(i as hugeint) as h`],
])("every row %s arrives once, in order and with its cells", async (_what, columns) => {
  const sql = `select ${columns} from range(${rows}) t(i)`;
  const { table, data } = await client.query(sql);
  expect(table.numRows).toBe(rows);
  const seen: string[] = [];
  let wanted = 0n;
  for (const batch of table.batches) {
    const [i, b, t] = ["i", "b", "t"].map((name) => batch.getChild(name));
    const l = batch.getChild("l");
    for (let row = 0; row < batch.numRows; row += 1) {
      if (i?.get(row) !== wanted) throw new Error(`row ${wanted} is ${i?.get(row)}`);
      if (b?.get(row) !== (wanted % 7n === 0n)) throw new Error(`b of ${wanted}`);
      if (t?.get(row) !== (wanted % 3n > 0n ? `row ${wanted}` : null))
        throw new Error(`t of ${wanted}`);
      if ([...(l?.get(row) ?? [])].join() !== `${wanted},${wanted + 1n}`)
        throw new Error(`l of ${wanted}`);
      if (wanted % BigInt(sampleEvery) === 0n) seen.push(textOf(batch.get(row)?.toJSON()));
      wanted += 1n;
    }
  }
  expect(wanted).toBe(BigInt(rows));
  // Up to a megabyte is gathered where rows come fast, and a quarter of one at least.
  expect(Math.max(...data.map(({ dataBody }) => dataBody.length))).toBeGreaterThan(256 * 1_024);
  samples.push(seen);
});

it("the same cells come either way, of every kind of type", () => {
  const [whole = [], anew = []] = samples;
  expect(whole.length).toBe(Math.ceil(rows / sampleEvery));
  expect(whole[3]).toContain('"i":"2991"');
  expect(whole).toEqual(anew);
});

/** Without the column that only one of the ways has. */
function textOf(row: unknown): string {
  const { h: _h, ...cells } = row as Readonly<Record<string, unknown>>;
  return JSON.stringify(cells, (_key, value: unknown) =>
    typeof value === "bigint" ? `${value}` : value,
  );
}
