/** Apache Arrow's reference Flight SQL server (over SQLite) through its real ADBC driver, in a process. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { codeOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/engine.suite.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterOf } from "./adbcHost.ts";

const uri = process.env["GATEWAY_TEST_FLIGHT"] ?? "";

describe("Flight SQL behind its driver", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await clusterOf({ driver: "flightsql", uri });
    await ran(backend, "create table real_t (id integer, label text)");
    await ran(backend, "insert into real_t values (1, 'one'), (2, 'two')");
  });
  afterAll(async () => {
    await ran(backend, "drop table real_t");
    await backend[Symbol.asyncDispose]();
  });

  it("answers rows, with parameters and without", async () => {
    const all = await ran(backend, "select id, label from real_t order by id");
    expect(all.rows).toEqual([
      [1n, "one"],
      [2n, "two"],
    ]);
    const parameters = [{ type: { kind: "integer", bits: 64, signed: true }, value: 2n }] as const;
    const one = await ran(backend, "select label from real_t where id = $1", { parameters });
    expect(one.rows).toEqual([["two"]]);
  });

  it("counts changes", async () => {
    const { last } = await ran(backend, "update real_t set label = label where id = 1");
    expect(last).toMatchObject({ kind: "done", updateType: "UPDATE", updateCount: 1 });
  });

  it("names a missing table and a broken text by their codes", async () => {
    expect(codeOf(await ran(backend, "select * from nowhere"))).toBe("query.unknownObject");
    expect(codeOf(await ran(backend, "selec 1"))).toBe("query.syntax");
  });

  it("describes the columns of a query", async () => {
    const query = identifiedOf("select id, label from real_t where id = $1");
    const { columns, parameters } = valueOf(await backend.describe(query, never));
    expect(columns.map(({ name }) => name)).toEqual(["id", "label"]);
    expect(parameters).toHaveLength(1);
  });

  it("ends a statement that is cancelled, and answers the next one", async () => {
    const endless =
      "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
    const controller = new AbortController();
    const stream = backend.execute(identifiedOf(endless), controller.signal);
    await stream.next();
    controller.abort();
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({ error: { code: "query.cancelled" } });
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });

  it("says that it can not list what runs", async () => {
    expect(valueOf(await backend.running(never)).complete).toBe(false);
    expect(await backend.probe(never)).toBe("healthy");
  });
});
