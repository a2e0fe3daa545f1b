/** Large results of an embedded DuckDB to a client of Flight SQL: the engine's own messages where they may pass, and others anew. */
import { FlightClient } from "@gateway/frontends/flightSql/rig/client.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const rows = 300_000;
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

const plain =
  "i, i % 7 = 0 as b, case when i % 3 > 0 then 'row ' || i end as t, [i, i + 1] as l, cast(i as decimal(12,2)) as d";

it.each([
  ["that lie as Arrow has them", plain],
  ["of which a column is laid out anew", `${plain}, cast(i as hugeint) as h`],
])("every row %s arrives once, in order and with its cells", async (_what, columns) => {
  const sql = `select ${columns} from range(${rows}) t(i)`;
  const { table, data } = await client.query(sql);
  expect(table.numRows).toBe(rows);
  let wanted = 0n;
  for (const batch of table.batches) {
    const [i, b, t] = ["i", "b", "t"].map((name) => batch.getChild(name));
    const l = batch.getChild("l");
    for (let row = 0; row < batch.numRows; row += 1) {
      if (i?.get(row) !== wanted) throw new Error(`row ${wanted} is ${i?.get(row)}`);
      if (b?.get(row) !== (wanted % 7n === 0n)) throw new Error(`b of ${wanted}`);
      if (t?.get(row) !== (wanted % 3n > 0n ? `row ${wanted}` : null))
        throw new Error(`t of ${wanted}`);
      if (row % 1_000 === 0) expect([...(l?.get(row) ?? [])]).toEqual([wanted, wanted + 1n]);
      wanted += 1n;
    }
  }
  expect(wanted).toBe(BigInt(rows));
  // They are of about a megabyte once many have come.
  expect(Math.max(...data.map(({ dataBody }) => dataBody.length))).toBeGreaterThan(700_000);
});
