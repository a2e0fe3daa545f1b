/** Several kinds of engines in one group: the same result from each, and a member that fails is left out until it comes back. */
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { fakeClickHouse, type FakeClickHouse } from "../fake/clickHouse.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

function kept<T extends AsyncDisposable>(one: T): T {
  open.push(one);
  return one;
}

interface Setting {
  readonly clickHouse: FakeClickHouse;
  readonly gateway: TestGateway;
}

/** DuckDB, ClickHouse's interface and MySQL's wire in one group, in turn. */
async function mixedGroup(members: readonly string[] = engineNames): Promise<Setting> {
  const clickHouse = kept(await fakeClickHouse());
  const mysql = kept(await gatewayOf(configOf()));
  const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
  const clusters = {
    duck: { engine: "duckDb" },
    click: { engine: "clickHouse", endpoint: clickHouse.endpoint, auth },
    star: { engine: "starRocks", endpoint: `mysql://127.0.0.1:${portOf(mysql, "mysqlWire")}` },
  };
  const group = { members, maxRunningQueries: 4 };
  const gateway = kept(await gatewayOf(configOf({ clusters, clusterGroups: { default: group } })));
  return { clickHouse, gateway };
}

async function clientOf(gateway: TestGateway): Promise<pg.Client> {
  const port = portOf(gateway, "postgresWire");
  const client = new pg.Client({ host: "127.0.0.1", port, user: "u" });
  await client.connect();
  open.push({ [Symbol.asyncDispose]: () => client.end() });
  return client;
}

const engineNames = ["duck", "click", "star"] as const;

describe("a string and a name", () => {
  it.each(engineNames)("mean on %s what a client of PostgreSQL wrote", async (member) => {
    const { gateway } = await mixedGroup([member]);
    const client = await clientOf(gateway);
    const text = String.raw`select 'it''s \' as "odd ""name \", E'tab\t\'q' as e -- 'x`;
    const { rows } = await client.query(text);
    expect(rows).toEqual([{ 'odd "name \\': "it's \\", e: "tab\t'q" }]);
  });

  it.each(engineNames)("mean on %s what a client of MySQL wrote", async (member) => {
    const { gateway } = await mixedGroup([member]);
    const port = portOf(gateway, "mysqlWire");
    const client = await createConnection({ host: "127.0.0.1", port, user: "u" });
    try {
      const value = "it's \\ or 1=1 -- \" `";
      const [rows] = await client.query(`select ${client.escape(value)} as \`odd "name\``);
      expect(rows).toEqual([{ 'odd "name': value }]);
      const [again] = await client.execute("select concat(?, 'x') as v", [value]);
      expect(again).toEqual([{ v: `${value}x` }]);
    } finally {
      await client.end();
    }
  });
});

const sql =
  "select 42 as n, 'h\u00e9llo' as s, cast(1.50 as decimal(10, 2)) as d, date '2024-02-29' as day, null as nothing";
const row = { n: 42, s: "h\u00e9llo", d: "1.50", day: new Date(2024, 1, 29), nothing: null };

describe("a group of several engines", () => {
  it("answers the same from each", async () => {
    const { gateway, clickHouse } = await mixedGroup();
    const client = await clientOf(gateway);
    for (let turn = 0; turn < 6; turn += 1) {
      const { rows } = await client.query(sql);
      expect(rows).toEqual([row]);
    }
    expect(ranOn(clickHouse)).toBe(2);
  });

  it("leaves a member out that is not reached, without a failed query, and takes it back", async () => {
    const { gateway, clickHouse } = await mixedGroup();
    const client = await clientOf(gateway);
    clickHouse.misbehave("badGateway");
    for (let turn = 0; turn < 9; turn += 1) {
      const { rows } = await client.query(sql);
      expect(rows).toEqual([row]);
    }
    clickHouse.misbehave(undefined);
    const before = ranOn(clickHouse);
    await expect
      .poll(
        async () => {
          await client.query(sql);
          return ranOn(clickHouse);
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThan(before);
  });
});

/** Runs of the test's own statement; the gateway's probes come beside it. */
function ranOn({ seen }: FakeClickHouse): number {
  return seen.filter((one) => one.sql === sql).length;
}
