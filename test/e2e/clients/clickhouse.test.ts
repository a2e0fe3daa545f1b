/** ClickHouse's own client for Node against a whole gateway over a real DuckDB. */
import { ClickHouseError, createClient, type ClickHouseClient } from "@clickhouse/client";
import {
  statementsLogged,
  type StatementLog,
} from "@gateway/engines/duckDb/client/statementLog.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../gateway.ts";

/** Runs for minutes unless it is interrupted. */
const endless =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";

let gateway: TestGateway;
let log: StatementLog & Disposable;
let client: ClickHouseClient;

beforeAll(async () => {
  log = statementsLogged();
  const listener = { host: "127.0.0.1", port: 0 };
  const { gateway: plain } = configOf() as { gateway: object };
  gateway = await gatewayOf(
    configOf({ gateway: { ...plain, frontends: { clickhouseHttp: listener } } }),
  );
  client = createClient({
    url: `http://127.0.0.1:${portOf(gateway, "clickhouseHttp")}`,
    username: "ann",
    compression: { response: true },
    log: { level: 127 },
  });
}, 30_000);

afterAll(async () => {
  await client.close();
  await gateway[Symbol.asyncDispose]();
  log[Symbol.dispose]();
});

describe("@clickhouse/client", () => {
  it("reads rows with their types, packed, and is answered its ping", async () => {
    expect(await client.ping()).toEqual({ success: true });
    const query = "select 1::integer as i, 2.50::decimal(9, 2) as d, [1, null] as l, 'x' as s";
    const answer = await client.query({ query, format: "JSON" });
    const { meta, data, rows } = await answer.json<object>();
    expect({ meta, data, rows }).toEqual({
      meta: [
        { name: "i", type: "Nullable(Int32)" },
        { name: "d", type: "Nullable(Decimal(9, 2))" },
        { name: "l", type: "Array(Nullable(Int32))" },
        { name: "s", type: "Nullable(String)" },
      ],
      data: [{ i: 1, d: 2.5, l: [1, null], s: "x" }],
      rows: 1,
    });
  });

  it("streams many rows, each once and in order", async () => {
    const query = "select i::integer as i from range(50000) t(i) order by i";
    const found: unknown[] = [];
    for await (const rows of (await client.query({ query, format: "TabSeparated" })).stream()) {
      for (const { text } of rows) found.push(text);
    }
    expect(found).toEqual(Array.from({ length: 50_000 }, (_, i) => String(i)));
  });

  it("changes tables and counts, with typed parameters that stay out of the text", async () => {
    await client.command({ query: "create table t (a integer, b varchar)" });
    const { summary } = await client.command({ query: "insert into t values (1, 'x'), (2, 'y')" });
    expect(summary?.written_rows).toBe("2");
    const query = "select b from t where a = {a:Int32} and b <> {b:String}";
    const query_params = { a: 2, b: "it's" };
    const answer = await client.query({ query, query_params, format: "CSV" });
    expect(await answer.text()).toBe('"y"\n');
  });

  it("is refused what only a ClickHouse can do, with ClickHouse's numbers", async () => {
    const values = [{ a: 1 }];
    expect(await codeOf(client.insert({ table: "t", values, format: "JSONEachRow" }))).toBe("48");
    expect(await codeOf(client.query({ query: "select 1", format: "Parquet" }))).toBe("73");
    expect(await codeOf(client.query({ query: "selec 1" }))).toBe("62");
    expect(await codeOf(client.query({ query: "select * from nowhere" }))).toBe("60");
  });

  it("ends its query in the engine when it stops to wait, or kills it by its id", async () => {
    const controller = new AbortController();
    const left = client.query({ query: endless, abort_signal: controller.signal });
    await log.started(endless);
    controller.abort();
    await expect(left).rejects.toThrow(/abort/);
    await expect(log.ended(endless)).resolves.toBeUndefined();
    const query_id = "to be killed";
    const again = `${endless} and i >= 0`;
    const killed = codeOf(client.query({ query: again, query_id }));
    await log.started(again);
    await client.command({ query: `KILL QUERY WHERE query_id = '${query_id}' SYNC` });
    expect(await killed).toBe("394");
    await expect(log.ended(again)).resolves.toBeUndefined();
  });
});

/** The number of ClickHouse's exception. */
async function codeOf(asked: Promise<unknown>): Promise<unknown> {
  return await asked.then(
    () => "done",
    (error: unknown) => (error instanceof ClickHouseError ? error.code : error),
  );
}
